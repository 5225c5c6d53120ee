/** An operation of an aggregate, or of the kernel. */
export type Operation = `${string}.${string}`;
