"""The Report page: what people say of the study, and everything else in one file to hand on."""
