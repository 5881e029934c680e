"""What is to be sent stays whole when a part of the page is drawn anew."""

from __future__ import annotations

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from ui.server.lifespan import send_whole_pages


def drawn(*path: int, part: str = "") -> ForwardMsg:
    """A box at a place of the page, of the page itself or of a part."""
    message = ForwardMsg()
    message.metadata.delta_path[:] = path
    message.delta.add_block.allow_empty = True
    message.delta.fragment_id = part
    return message


@pytest.fixture
def queue(monkeypatch):
    """A page that was drawn and not sent yet; the box at 1 belongs to a part."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)  # put back after the test
    send_whole_pages()
    queue = ForwardMsgQueue()
    for message in (drawn(0, 0), drawn(0, 1, part="live"), drawn(0, 2)):
        queue.enqueue(message)
    return queue


def places(queue):
    return [tuple(message.metadata.delta_path) for message in queue.flush()]


def test_a_part_that_is_drawn_anew_leaves_its_box_in_the_page(queue):
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["live"])
    queue.enqueue(drawn(0, 1, part="live"))
    assert places(queue) == [(0, 0), (0, 1), (0, 2), (0, 1)]


def test_a_page_that_is_drawn_anew_takes_the_place_of_the_old_one(queue):
    queue.clear(retain_lifecycle_msgs=True)
    assert places(queue) == []
    queue.enqueue(drawn(0, 0))
    queue.clear()
    assert queue.is_empty()


def test_it_is_done_once(queue):
    method = ForwardMsgQueue.clear
    send_whole_pages()
    assert ForwardMsgQueue.clear is method
