/* A box that one thread fills and another empties. */
struct box;

struct box *box_new(void);
void box_put(struct box *box, void *parcel); /* waits while it is full */
void *box_take(struct box *box);             /* waits while it is empty */
