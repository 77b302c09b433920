/* A slot that one thread fills and another empties. */
void mailbox_announce(void);
void mailbox_await(void);
