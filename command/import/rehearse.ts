import { targetOf, wire } from '#kernel/base/names.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { streamOf } from '../handling/target.ts';
import type { States } from '../states.ts';
import { commandIn, commandNamed, type Named } from './command-of-line.ts';
import { demandNotLate, demandPast } from './in-order.ts';
import type { Imported } from './known-keys.ts';
import { type ImportLine, refusedLine } from './line.ts';
import { createDemandNext, demandFile, readUnchecked } from './read-lines.ts';
import { ANY_KIND, FaultOfLine, idNamed } from './resolve-names.ts';

/** The numbers of lines. */
export type Rehearsal = {
  readonly lines: number;
  readonly wrong: number;
  /** Imported by an earlier run. */
  readonly known: number;
};

type Rehearsing = {
  readonly domain: Domain;
  readonly states: States;
  /** The lines that are imported already. */
  readonly keys: ReadonlyMap<string, Imported>;
  readonly passed: ReadonlySet<string>;
  /** The greatest time in the log. */
  readonly latest: string;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Gets the sentence about each wrong line. */
  report(sentence: string): Promise<void>;
};

/** Stands for the ids of what the lines would create. */
const SOME_ID = 1;

/**
 * Reads every line as an import would, and appends nothing. No decision is asked: what a line would change is
 * unknown to the lines below it.
 */
export const rehearse = async (rehearsing: Rehearsing, path: string): Promise<Rehearsal> => {
  const { domain, passed, latest, nowMs, signal, report } = rehearsing;
  await demandFile(path);
  const keys = new Map(rehearsing.keys);
  const demandNext = createDemandNext();
  const demandThere = createDemandThere(rehearsing);
  const now = new Date(nowMs).toISOString();

  const check = async (line: ImportLine): Promise<'known' | 'new'> => {
    demandNext(line);
    if (rehearsing.keys.has(line.key) || passed.has(line.key)) return 'known';
    // Lines below may name what this one would create, also if it is wrong.
    keys.set(line.key, { kind: ANY_KIND, id: SOME_ID, itemId: SOME_ID });
    const named = commandNamed(domain, line);
    keys.set(line.key, { kind: named.kind.name, id: SOME_ID, itemId: itemBy(named) });
    demandPast(line, now);
    demandNotLate(line, latest);
    if (line.actor !== undefined) {
      idNamed(keys, 'user', line.actor);
      await demandThere('user', line.actor);
    }
    commandIn(keys, line, named);
    for (const [kind, id] of idsIn(line, named)) await demandThere(kind, id);
    return 'new';
  };

  const counts = { lines: 0, wrong: 0, known: 0 };
  for await (const read of readUnchecked(path)) {
    if (signal.aborted) break;
    let line: ImportLine | undefined;
    try {
      line = read();
      if (line === undefined) continue;
      if ((await check(line)) === 'known') counts.known += 1;
    } catch (error) {
      const refused = error instanceof FaultOfLine && line ? refusedLine(line, error.message) : error;
      if (!(refused instanceof StartRefused)) throw refused;
      counts.wrong += 1;
      await report(refused.message);
    }
    counts.lines += 1;
  }
  return counts;
};

const itemBy = ({ command: { kind, list } }: Named): number | undefined =>
  kind === 'addItem' && list?.key === undefined ? SOME_ID : undefined;

/** Aggregates that a line names by their ids instead of keys: they must be in the log. */
function* idsIn(line: ImportLine, { kind, command: { list } }: Named): Generator<readonly [string, unknown]> {
  yield [kind.name, line.of];
  for (const [name, def] of Object.entries(list?.fields ?? kind.fields))
    if (def.kind === 'ref') yield [targetOf(def), line.form[wire(name, def)]];
}

const createDemandThere = ({ domain, states }: Rehearsing) => {
  const there = new Set<string>();
  return async (name: string, id: unknown): Promise<void> => {
    const kind = domain.kinds[name];
    if (typeof id !== 'number' || kind === undefined || there.has(`${name} ${id}`)) return;
    const { state } = await states.load<AggregateState, never>(deciderOf(domain, kind), streamOf(kind, id));
    if (state.status === 'absent') throw new FaultOfLine(`there is no ${name} ${id}`);
    there.add(`${name} ${id}`);
  };
};
