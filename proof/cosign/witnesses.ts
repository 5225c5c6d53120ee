import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Log } from '#shared/log.ts';
import type { Leaves } from '../tree/leaves.ts';
import { parseNote } from '../tree/note.ts';
import type { Policy } from '../tree/policy.ts';
import { proofsOf } from '../tree/proofs.ts';
import { readTreeHead, tileReader } from '../tree/tiles.ts';
import { parseTreeHead } from '../tree/tree-head.ts';
import { askWitness, type WitnessAnswer } from './ask-witness.ts';
import { type Endpoint, endpointsOf } from './endpoints.ts';
import { isWitnessed } from './enough.ts';
import {
  readWitnessed,
  readWitnesses,
  replaceLines,
  saveCosigned,
  saveProblem,
  saveWitnessed,
} from './witness-rows.ts';

export type WitnessesDependencies = {
  readonly pool: Pool;
  readonly leaves: Leaves;
  /** The name of the log. */
  readonly origin: string;
  readonly policy: Policy;
  readonly log: Log;
  readonly clock: Clock;
  /** Called with each head that enough witnesses have cosigned. */
  onWitnessed?(note: string): void;
};

/** Under load, a head is sent this often; the first one after a rest at once. */
const ROUND_MS = 1_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 60_000;
/** Requests at the same time. */
const ASKED_MAX = 16;

type Head = { readonly size: number; readonly note: string };

/**
 * Sends heads of the log to its witnesses, in rounds: each sends the newest head to all that have not cosigned it,
 * so that they cosign the same ones. Between heads nothing runs. Nobody waits for a round.
 */
export class Witnesses {
  readonly #given: WitnessesDependencies;
  readonly #endpoints: readonly Endpoint[];
  readonly #stopping = new AbortController();
  #newest: Head | undefined;
  #offered = new AbortController();
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();

  #witnessed: string | undefined;

  private constructor(given: WitnessesDependencies, endpoints: readonly Endpoint[], witnessed?: string) {
    this.#given = given;
    this.#endpoints = endpoints;
    this.#witnessed = witnessed;
  }

  /** Goes on where the process before has ended. */
  static async open(given: WitnessesDependencies): Promise<Witnesses> {
    const rows = await readWitnesses(given.pool, given.origin);
    const witnessed = await readWitnessed(given.pool, given.origin);
    const { size, note } = (await readTreeHead(given.pool)) ?? {};
    const newest = size === undefined || note == null ? undefined : { size, note };
    const endpoints = endpointsOf(given.policy, rows, newest);
    await replaceLines(given.pool, given.origin, { rows, endpoints });
    return new Witnesses(given, endpoints, witnessed?.note);
  }

  offer(note: string): void {
    const head = parseTreeHead(parseNote(note)?.text ?? '');
    if (head === undefined || head.size === 0) return;
    // Of the process before: only the one that grows the tree goes on with it.
    if (this.#witnessed !== undefined) this.#given.onWitnessed?.(this.#witnessed);
    this.#witnessed = undefined;
    this.#newest = { size: head.size, note };
    this.#offered.abort();
    if (!this.#isRunning) this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { clock, log } = this.#given;
    const { signal } = this.#stopping;
    while (!signal.aborted && this.#newest !== undefined) {
      const head = this.#newest;
      this.#offered = new AbortController();
      const pending = this.#endpoints.filter(({ size }) => size !== head.size);
      const untilMs = Math.min(...pending.map(({ retryAtMs }) => retryAtMs));
      if (pending.length === 0) break;
      const beganMs = clock.elapsedMs();
      if (untilMs > beganMs) {
        await clock.sleep(untilMs - beganMs, AbortSignal.any([signal, this.#offered.signal]));
        continue;
      }
      await this.#round(head, pending).catch((err: unknown) =>
        log.error({ err }, 'The answers of the witnesses cannot be stored.'),
      );
      await clock.sleep(Math.max(ROUND_MS - (clock.elapsedMs() - beganMs), 0), signal);
    }
    this.#isRunning = false;
  }

  async #round(head: Head, pending: readonly Endpoint[]): Promise<void> {
    const due = pending.filter(({ retryAtMs }) => retryAtMs <= this.#given.clock.elapsedMs());
    const left = due.values();
    const work = async (): Promise<void> => {
      for (const endpoint of left) await this.#ask(endpoint, head);
    };
    await Promise.all(Array.from({ length: ASKED_MAX }, work));
  }

  async #ask(endpoint: Endpoint, head: Head): Promise<void> {
    // If the answer cannot be stored, the witness is asked again as if it had failed.
    this.#postpone(endpoint);
    const answer = await this.#answerOf(endpoint, head).catch((error: Error) => ({
      is: 'failed' as const,
      reason: error.message,
    }));
    if (this.#stopping.signal.aborted && answer.is !== 'cosigned') return;
    if (answer.is === 'cosigned') return this.#keep(endpoint, head, answer.cosignatures);
    const isRefusing = answer.is === 'contradicted';
    const problem = answer.is === 'elsewhere' ? CHANGED : answer.reason;
    this.#report(endpoint, problem, isRefusing);
    await saveProblem(this.#given.pool, this.#rowOf(endpoint), { problem, isRefusing, at: this.#now() });
  }

  #postpone(endpoint: Endpoint): void {
    endpoint.retryAtMs =
      this.#given.clock.elapsedMs() + Math.min(RETRY_MIN_MS * 2 ** endpoint.failures, RETRY_MAX_MS);
    endpoint.failures += 1;
  }

  /** Asks again once if the witness is elsewhere: it names the size. */
  async #answerOf(endpoint: Endpoint, head: Head): Promise<WitnessAnswer> {
    const first = await this.#send(endpoint, head, Math.min(endpoint.size, head.size));
    if (first.is !== 'elsewhere') return first;
    if (first.size <= head.size) return this.#send(endpoint, head, first.size);
    const { size = 0 } = (await readTreeHead(this.#given.pool)) ?? {};
    // Another process has taken over, and has sent a newer head.
    if (first.size <= size) return first;
    const reason = `It has cosigned a head over ${first.size} events, and the log has ${size}.`;
    return { is: 'contradicted', reason };
  }

  async #send({ url, witnesses }: Endpoint, { size, note }: Head, old: number): Promise<WitnessAnswer> {
    const { pool, leaves, clock } = this.#given;
    const proof =
      old === 0 || old === size ? [] : await proofsOf(tileReader(pool, leaves), size).consistency(old);
    const keys = witnesses.map(({ key }) => key);
    const nowMs = dateElsewhereMs(clock);
    return askWitness({ url, keys, old, proof, note, nowMs, signal: this.#stopping.signal });
  }

  async #keep(endpoint: Endpoint, { size, note }: Head, cosignatures: string): Promise<void> {
    const { pool, origin, policy, log, onWitnessed } = this.#given;
    const at = this.#now();
    await saveCosigned(pool, this.#rowOf(endpoint), { size, cosignatures, at });
    if (endpoint.problem !== null) log.info({ witness: endpoint.url }, 'The witness cosigns again.');
    Object.assign(endpoint, { size, cosignatures, problem: null, failures: 0, retryAtMs: 0 });
    const whole = `${note}${this.#endpoints
      .filter((each) => each.size === size)
      .map((each) => each.cosignatures)
      .join('')}`;
    if (!isWitnessed(whole, policy)) return;
    await saveWitnessed(pool, origin, { size, note: whole, at });
    onWitnessed?.(whole);
  }

  /** Once for each reason, and not for each attempt. */
  #report(endpoint: Endpoint, problem: string, isRefusing: boolean): void {
    if (endpoint.problem === problem) return;
    endpoint.problem = problem;
    const { log } = this.#given;
    const found = { witness: endpoint.url, problem };
    if (isRefusing) log.error(found, 'A witness says that the log contradicts what it has seen before.');
    else log.warn(found, 'A witness does not cosign the head of the log.');
  }

  #rowOf({ url, witnesses }: Endpoint) {
    return { log: this.#given.origin, url, names: witnesses.map(({ name }) => name) };
  }

  #now(): Date {
    return new Date(dateElsewhereMs(this.#given.clock));
  }
}

const CHANGED = 'It names another size each time: another process sends heads too.';
