import { promisify } from 'node:util';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type Answer, Joint, type Statement, sendPipelined } from './pipeline.ts';
import type { Connection, Pool } from './pool.ts';
import { demandCommitted, rollBack } from './transaction.ts';

/** Writes in a transaction that others write in at the same time. If one of them fails, it was in vain. */
export type Work = (connection: Connection) => Promise<unknown>;

/**
 * Does all of the works, or none if one of them throws. Whatever they send in the same turn of the event loop
 * goes to the server at once: the first of it with the beginning, and what was sent last with the commit.
 * `isShared` tells them that a refused statement fails all of them. Returns how long it had a connection, in
 * milliseconds.
 */
export const inJointTransaction = async (
  pool: Pool,
  first: readonly Statement[],
  works: readonly Work[],
  { isShared }: { readonly isShared: boolean },
): Promise<number> => {
  const connection = await pool.connect();
  const connectedAtMs = REAL_TIME.elapsedMs();
  const joint = new JointTransaction(connection, [BEGIN, ...first], isShared);
  let broken: Error | undefined;
  try {
    const members = works.map(() => new Member(joint, isShared));
    await Promise.all(works.map((work, index) => joint.run(() => work(members[index] as Member))));
    await joint.end(members.flatMap((member) => member.takeLast()));
  } catch (error) {
    broken = await rollBack(connection, error);
    throw error;
  } finally {
    connection.release(broken);
  }
  return REAL_TIME.elapsedMs() - connectedAtMs;
};

const BEGIN: Statement = { name: 'begin', text: 'begin' };
const COMMIT: Statement = { name: 'commit', text: 'commit' };

const endOfTurn = promisify(setImmediate);

type Sent = {
  readonly statements: readonly Statement[];
  readonly answers: PromiseWithResolvers<readonly Answer[]>;
};

class JointTransaction {
  readonly #connection: Connection;
  readonly #isShared: boolean;
  #isBegun = false;
  #unsent: Sent[];
  #sending: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(connection: Connection, first: readonly Statement[], isShared: boolean) {
    this.#connection = connection;
    this.#isShared = isShared;
    this.#unsent = [sentOf(first)];
  }

  send(statements: readonly Statement[]): Promise<readonly Answer[]> {
    if (this.#failure) return Promise.reject(this.#failure.error);
    const sent = sentOf(statements);
    this.#unsent.push(sent);
    this.#sending ??= this.#sendAll();
    return sent.answers.promise;
  }

  /** If it throws, the others send nothing more. Never throws, because the connection is theirs until they end. */
  async run(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#fail(error);
    }
  }

  async end(last: readonly Statement[]): Promise<void> {
    await this.#sending;
    const sent = sentOf([...last, COMMIT]);
    this.#unsent.push(sent);
    await this.#flush();
    demandCommitted((await sent.answers.promise).at(-1));
  }

  /** The first failure is the cause of the others. */
  #fail(error: unknown): void {
    this.#failure ??= { error };
  }

  async #sendAll(): Promise<void> {
    do {
      await endOfTurn();
      await this.#flush();
    } while (this.#unsent.length > 0);
    this.#sending = undefined;
  }

  async #flush(): Promise<void> {
    const all = this.#unsent;
    this.#unsent = [];
    try {
      if (this.#failure) throw this.#failure.error;
      const answers = await sendPipelined(
        this.#connection,
        all.flatMap(({ statements }) => statements),
      );
      this.#isBegun = true;
      let from = 0;
      for (const { statements, answers: own } of all) {
        own.resolve(answers.slice(from, from + statements.length));
        from += statements.length;
      }
    } catch (error) {
      // A single work may go back to a savepoint.
      if (this.#isShared || !this.#isBegun) this.#fail(error);
      for (const { answers } of all) answers.reject(error);
    }
  }
}

/** The transaction as one of those sees it who write in it: its own statements stay in their order. */
class Member extends Joint {
  readonly isShared: boolean;
  readonly #joint: JointTransaction;
  #last: Statement[] = [];

  constructor(joint: JointTransaction, isShared: boolean) {
    super();
    this.#joint = joint;
    this.isShared = isShared;
  }

  override async send(statements: readonly Statement[]): Promise<readonly Answer[]> {
    const before = this.takeLast();
    return (await this.#joint.send([...before, ...statements])).slice(before.length);
  }

  override sendLast(statements: readonly Statement[]): void {
    this.#last.push(...statements);
  }

  takeLast(): readonly Statement[] {
    const last = this.#last;
    this.#last = [];
    return last;
  }
}

const sentOf = (statements: readonly Statement[]): Sent => {
  const answers = Promise.withResolvers<readonly Answer[]>();
  // The first and the last statements have nobody who waits for them.
  answers.promise.catch(() => {});
  return { statements, answers };
};
