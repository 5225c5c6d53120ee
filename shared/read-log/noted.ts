import { AsyncLocalStorage } from 'node:async_hooks';
import { idIn, kindIn } from '#kernel/base/events/streams.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';

/** The kind of an aggregate, as far as the log of reads needs it. */
export type LoggedKind = Pick<Kind, 'name' | 'reads' | 'isAudited'>;

/** Items of one kind of which the same fields were shown. */
export type Noted = {
  readonly kind: LoggedKind;
  readonly fields: readonly string[];
  /** Empty if an answer was computed from items without showing any: counts, sums, values of views. */
  readonly items: readonly number[];
};

/** Where the reads of one answer are noted. */
export type Noting = { add(kind: LoggedKind, id: number | undefined, fields: readonly string[]): void };

const current = new AsyncLocalStorage<Noting>();

/** Runs work whose reads are noted. */
export const noting = <Result>(notes: Noting, work: () => Result): Result => current.run(notes, work);

/** Runs work that reads but shows nothing of it, such as a check of a right. */
export const notingNothing = <Result>(work: () => Result): Result => current.run(NOTHING, work);

const NOTHING: Noting = { add() {} };

/** Notes that an item was shown, with these fields. Its kind must log reads. */
export type Note = (id: number | undefined, fields: readonly string[]) => void;

/**
 * How reads of a kind are noted; undefined if they are not logged. A read that nobody records fails: an interface
 * that forgets to record shows nothing.
 */
export const noteOf = (kind: LoggedKind): Note | undefined => {
  const { reads, isAudited, name } = kind;
  if (reads === undefined && !isAudited) return undefined;
  return (id, fields) => {
    // Of auditors, all fields count; `Notes` knows the reader.
    const logged = isAudited ? fields : loggedOf(kind, fields);
    if (logged === undefined) return;
    const notes = current.getStore();
    if (notes === undefined)
      throw new Error(`Reads of ${name} are logged, but this one is of a request that records none`);
    notes.add(kind, id, logged);
  };
};

/** The fields of which reads are logged, whoever reads them; undefined if there are none among these. */
export const loggedOf = ({ reads }: LoggedKind, fields: readonly string[]): readonly string[] | undefined => {
  if (reads?.only === undefined) return reads && fields;
  const { only } = reads;
  const logged = fields.filter((each) => only.includes(each));
  return logged.length === 0 ? undefined : logged;
};

/** Of answers to auditors that show no item of an aggregate. No kind has this name. */
export const OTHER: LoggedKind = { name: 'other-data', isAudited: true };

/** Notes that everything of an item was shown, as in its events. */
export const noteWholeOf = (
  kind: LoggedKind & Pick<Kind, 'fields' | 'lists'>,
): ((id: number) => void) | undefined => {
  const note = noteOf(kind);
  const all = [...Object.keys(kind.fields), ...Object.keys(kind.lists)];
  return note && ((id) => note(id, all));
};

/** Notes that whole events were shown, as they are recorded. */
export const notingEvents = oncePer(
  ({ kinds }: Pick<Domain, 'kinds'>): ((events: readonly { readonly stream: string }[]) => void) => {
    const notes = new Map(
      Object.values(kinds).flatMap((kind) => {
        const note = noteWholeOf(kind);
        return note === undefined ? [] : [[kind.name, note] as const];
      }),
    );
    if (notes.size === 0) return () => {};
    return (events) => {
      for (const { stream } of events) notes.get(kindIn(stream))?.(idIn(stream));
    };
  },
);
