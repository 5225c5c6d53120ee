/** One edit of an installation that has stopped: of its database by SQL, or of a file in its `AUDIT_DIR`. */
export type Tampering = {
  readonly name: string;
  readonly sql?: string;
  readonly file?: { readonly name: string; edit(text: string): string };
  /** Of the findings of `audit verify`, those that must be there. None if it finds nothing. */
  readonly verify: readonly string[];
  /** The same of the background verification. */
  readonly watch: readonly string[];
};
