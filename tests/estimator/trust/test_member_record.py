import json

from hipad.estimator.files.json_values import plain, rebuild
from hipad.estimator.trust.member_record import MemberRecord


def test_member_record_is_the_same_after_it_was_written():
    record = MemberRecord((None, 2.5), 0.5, 0.75, 0.75, 0.3, 0.1, 10.0, 3, None, True, -0.125)
    again = rebuild(MemberRecord, json.loads(json.dumps(plain(record))))
    assert again == record
