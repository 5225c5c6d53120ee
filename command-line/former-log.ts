/** Printed once the log has another identity. */
export const FORMER_LOG =
  'Cursors of clients belong to the former log, and are now refused. A topic in Kafka belongs to it as well: use another one.';
