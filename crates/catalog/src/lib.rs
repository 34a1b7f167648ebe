//! What is resident of a collection, ready to be copied into answers. Pure, no I/O.
