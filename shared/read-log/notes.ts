import { type LoggedKind, loggedOf, type Noted } from './noted.ts';

/** The reads of one answer so far, of aggregates whose reads are logged; of auditors, those of all aggregates. */
export class Notes {
  readonly #isOfAuditor: () => boolean;
  readonly #kinds = new Map<
    string,
    { readonly kind: LoggedKind; readonly items: Map<number, Set<string>> }
  >();
  /** Fields of which no item was shown. */
  readonly #computed = new Map<string, { readonly kind: LoggedKind; readonly fields: Set<string> }>();

  /** Asked at each read, because the reader may become known after the first handlers. */
  constructor(isOfAuditor: () => boolean = () => false) {
    this.#isOfAuditor = isOfAuditor;
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0 && this.#computed.size === 0;
  }

  add(kind: LoggedKind, id: number | undefined, shown: readonly string[]): void {
    const fields = kind.isAudited && !this.#isOfAuditor() ? loggedOf(kind, shown) : shown;
    if (fields === undefined) return;
    const known = id === undefined ? this.#fieldsOf(kind) : this.#fieldsOfItem(kind, id);
    for (const field of fields) known.add(field);
  }

  addAll(others: readonly Noted[]): void {
    for (const { kind, fields, items } of others) {
      if (items.length === 0) this.add(kind, undefined, fields);
      for (const id of items) this.add(kind, id, fields);
    }
  }

  /** Returns what was noted, and forgets it: items with the same fields together. */
  take(): readonly Noted[] {
    const all = [...this.#kinds.values()].flatMap(({ kind, items }) => groupsOf(kind, items));
    const computed = [...this.#computed.values()].map(({ kind, fields }) => ({
      kind,
      fields: [...fields],
      items: [],
    }));
    this.#kinds.clear();
    this.#computed.clear();
    return [...all, ...computed];
  }

  #fieldsOfItem(kind: LoggedKind, id: number): Set<string> {
    const known = this.#kinds.get(kind.name) ?? { kind, items: new Map<number, Set<string>>() };
    this.#kinds.set(kind.name, known);
    const fields = known.items.get(id) ?? new Set();
    known.items.set(id, fields);
    return fields;
  }

  #fieldsOf(kind: LoggedKind): Set<string> {
    const known = this.#computed.get(kind.name) ?? { kind, fields: new Set() };
    this.#computed.set(kind.name, known);
    return known.fields;
  }
}

const groupsOf = (kind: LoggedKind, items: ReadonlyMap<number, ReadonlySet<string>>): readonly Noted[] => {
  const groups = new Map<string, { readonly fields: readonly string[]; readonly items: number[] }>();
  for (const [id, names] of items) {
    const fields = [...names].toSorted();
    const key = fields.join();
    const group = groups.get(key) ?? { fields, items: [] };
    groups.set(key, group);
    group.items.push(id);
  }
  return [...groups.values()].map((group) => ({ kind, ...group }));
};
