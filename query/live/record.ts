import { readBy } from '#edge/read-log/record-reads.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Caller, isOfAuditor } from '#shared/policy.ts';
import { type Noted, noting, OTHER } from '#shared/read-log/noted.ts';
import { Notes } from '#shared/read-log/notes.ts';
import type { ReadLog } from '#shared/read-log/read-log.ts';
import type { Feed } from '../changes/feed.ts';
import type { Reader } from '../changes/lane.ts';
import type { Cohort } from '../changes/renderings.ts';
import type { Row } from '../rows/sources.ts';
import type { ViewFeed, ViewReader } from '../views/feed.ts';
import { noteOfView } from '../views/notes.ts';

/** The reads of messages, by the messages themselves, which many subscribers share. */
const shown = new WeakMap<Buffer, { readonly noted: readonly Noted[]; readonly request: string }>();

const rendered = async (
  request: string,
  render: () => Promise<Buffer | undefined>,
): Promise<Buffer | undefined> => {
  // Many subscribers share it, perhaps auditors among them.
  const notes = new Notes(() => true);
  const message = await noting(notes, render);
  if (message !== undefined) shown.set(message, { noted: notes.take(), request });
  return message;
};

/** Records each message for its subscriber before it is sent, and keeps their order. */
const createOutlet = (
  readLog: ReadLog,
  caller: Caller,
  operation: string,
  fail: (error: unknown) => void,
) => {
  let before: Promise<void> | undefined;
  let hasFailed = false;
  const record = (message: Buffer): Promise<void> | undefined => {
    const found = shown.get(message);
    if (found === undefined) return undefined;
    const notes = new Notes(() => isOfAuditor(caller));
    notes.addAll(found.noted);
    if (notes.isEmpty && isOfAuditor(caller)) notes.add(OTHER, undefined, []);
    return readLog.record(
      notes,
      readBy(caller, { via: 'stream', operation, query: {}, request: found.request }),
    );
  };
  const inOrder = (
    recorded: Promise<void> | undefined,
    work: () => Promise<void> | undefined | void,
  ): Promise<void> | undefined => {
    if (hasFailed) return undefined;
    if (before === undefined && recorded === undefined) return work() ?? undefined;
    const mine = Promise.all([before, recorded])
      .then(() => (hasFailed ? undefined : work()))
      .catch((error: unknown) => {
        if (hasFailed) return;
        hasFailed = true;
        fail(error);
      })
      .finally(() => {
        if (before === mine) before = undefined;
      });
    before = mine;
    return mine;
  };
  return {
    send: (message: Buffer, work: () => Promise<void> | undefined) => inOrder(record(message), work),
    after: (work: () => void) => void inOrder(undefined, work),
  };
};

/** The feed of a domain that logs reads. */
export const recordFeed = (readLog: ReadLog, feed: Feed): Feed => {
  const cohorts = new WeakMap<Cohort, Cohort>();
  const recording = (cohort: Cohort): Cohort => {
    const known = cohorts.get(cohort) ?? {
      ...cohort,
      render: (change, caller) => rendered(change.id, () => cohort.render(change, caller)),
    };
    cohorts.set(cohort, known);
    return known;
  };
  return {
    join(reader) {
      const outlet = createOutlet(readLog, reader.caller, 'changes', (error) => reader.fail(error));
      const recorded: Reader = {
        cohort: recording(reader.cohort),
        caller: reader.caller,
        after: reader.after,
        send: (message, position) => outlet.send(message, () => reader.send(message, position)),
        moveOn: (position) => outlet.after(() => reader.moveOn(position)),
        fail: (error) => reader.fail(error),
      };
      return feed.join(recorded);
    },
    get upTo() {
      return feed.upTo;
    },
    [Symbol.asyncDispose]: () => feed[Symbol.asyncDispose](),
  };
};

/** The streams of views of a domain that logs reads. */
export const recordViews = (domain: Domain, readLog: ReadLog, views: ViewFeed): ViewFeed => ({
  follow(reader) {
    const { view } = reader.source;
    const noted = noteOfView(domain, view);
    const noteKey = (row: Row): void =>
      noted?.note(noted.idColumn === undefined ? undefined : Number(row[noted.idColumn]));
    const outlet = createOutlet(readLog, reader.caller, view.name, (error) => reader.fail(error));
    const recorded: ViewReader = {
      ...reader,
      render: async (message, position) =>
        (await rendered(`${view.name} ${position}`, async () => {
          // It shows the key of its row, and that this row was there.
          if (message.type === 'removed') noteKey(message.row);
          return reader.render(message, position);
        })) as Buffer,
      send: (message) => outlet.send(message, () => reader.send(message)),
      moveOn: (position) => outlet.after(() => reader.moveOn(position)),
      fail: (error) => reader.fail(error),
    };
    return views.follow(recorded);
  },
  [Symbol.asyncDispose]: () => views[Symbol.asyncDispose](),
});
