/** The requests that one end may send to the other, by name. */
type Protocol = Readonly<Record<string, { readonly asked: unknown; readonly answered: unknown }>>;

export type Answers<Asked extends Protocol> = {
  readonly [Name in keyof Asked]: (
    asked: Asked[Name]['asked'],
  ) => Asked[Name]['answered'] | Promise<Asked[Name]['answered']>;
};

/** An end of the channel between the primary process and a worker: a process, as either sees the other. */
export type ChannelEnd = {
  send(message: Message, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
};

export type Channel<Asked extends Protocol> = {
  /** Fails if the other end fails, has gone, or takes too long. */
  ask<Name extends keyof Asked & string>(
    name: Name,
    asked: Asked[Name]['asked'],
    timeoutMs?: number,
  ): Promise<Asked[Name]['answered']>;
};

type Message =
  | { readonly question: string; readonly id: number; readonly asked: unknown }
  | { readonly answerTo: number; readonly answered: unknown }
  | { readonly answerTo: number; readonly failure: string };

type Waiting = {
  readonly resolve: (answered: never) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
};

const ANSWER_WITHIN_MS = 5_000;
const GONE = 'the other process has ended';

/** Requests and responses between two processes of one release, which send each other nothing else. */
export const openChannel = <Mine extends Protocol, Theirs extends Protocol>(
  end: ChannelEnd,
  answers: Answers<Mine>,
): Channel<Theirs> => {
  const waiting = new Map<number, Waiting>();
  let isGone = false;
  let lastId = 0;
  const settle = (id: number, how: (one: Waiting) => void): void => {
    const one = waiting.get(id);
    if (one === undefined) return;
    waiting.delete(id);
    clearTimeout(one.timer);
    how(one);
  };
  const fail = (id: number, why: string): void => settle(id, ({ reject }) => reject(new Error(why)));
  const send = (message: Message, onFailure: (error: Error) => void = () => {}): void => {
    end.send(message, (error) => {
      if (error !== null) onFailure(error);
    });
  };
  const answer = async ({ question, id, asked }: Extract<Message, { question: string }>): Promise<void> => {
    try {
      send({ answerTo: id, answered: await answers[question as keyof Mine]?.(asked) });
    } catch (error) {
      send({ answerTo: id, failure: error instanceof Error ? error.message : String(error) });
    }
  };
  end.on('message', (received) => {
    if (!isMessage(received)) return;
    if ('question' in received) void answer(received);
    else if ('failure' in received) fail(received.answerTo, received.failure);
    else settle(received.answerTo, ({ resolve }) => resolve(received.answered as never));
  });
  end.on('disconnect', () => {
    isGone = true;
    for (const id of [...waiting.keys()]) fail(id, GONE);
  });
  return {
    ask(name, asked, timeoutMs = ANSWER_WITHIN_MS) {
      if (isGone) return Promise.reject(new Error(GONE));
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => fail(id, `no answer to ${name} within ${timeoutMs} ms`),
        timeoutMs,
      ).unref();
      waiting.set(id, { resolve, reject, timer });
      send({ question: name, id, asked }, ({ message }) => fail(id, message));
      return promise;
    },
  };
};

const isMessage = (received: unknown): received is Message =>
  typeof received === 'object' && received !== null && ('question' in received || 'answerTo' in received);
