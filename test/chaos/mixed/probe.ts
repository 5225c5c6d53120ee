import { until } from '../../../testing/until.ts';
import type { Receiver } from '../receivers.ts';
import type { Recovery } from './history.ts';
import type { Reader } from './reader.ts';
import type { Recorder } from './recorder.ts';
import { createRestAuthor } from './rest-author.ts';
import { createSender } from './sender.ts';
import type { Site } from './site.ts';
import { createTokens } from './tokens.ts';

/**
 * Performs every client operation once, and returns the time after a given moment at which each had
 * succeeded.
 */
type Probe = (sinceMs: number) => Promise<Recovery>;

type Options = {
  readonly site: Site;
  readonly recorder: Recorder;
  readonly service: Site['admin'];
  readonly reader: Reader;
  readonly receiver: Receiver;
};

/** A slower operation counts as not recovered. */
const RECOVERED_WITHIN_MS = 240_000;

export const createProbe = ({ site, recorder, service, reader, receiver }: Options): Probe => {
  let [asked, messagesRead, callbacksRead] = [0, 0, 0];
  const messages = new Set<string>();
  const callbacks = new Set<string>();
  const hasMessage = (position: number): boolean => {
    for (const message of reader.received.slice(messagesRead))
      messages.add(String(Number.parseInt(message.split(' ')[0]?.split('-')[1] ?? '', 36)));
    messagesRead = reader.received.length;
    return messages.has(String(position));
  };
  const hasCallback = (position: number): boolean => {
    for (const { body } of receiver.arrivals.slice(callbacksRead))
      callbacks.add((JSON.parse(body) as { cursor: string }).cursor.split('-')[1] ?? '');
    callbacksRead = receiver.arrivals.length;
    return callbacks.has(position.toString(36));
  };
  return async (sinceMs) => {
    const took = async (work: Promise<unknown>): Promise<number> => {
      await work;
      return Date.now() - sinceMs;
    };
    // A new client each time, which needs a token first.
    const tokens = createTokens({ site, recorder, service });
    const token = await took(tokens.held());
    asked += 1;
    const author = createRestAuthor({
      name: `probe ${asked}`,
      send: createSender({ site, recorder, tokens }),
      recorder,
    });
    const content = { title: `Probe ${asked}`, body: '', tags: [] };
    const leaves = { 'article.drafted': content, 'article.published': {} };
    const path = await author.create('/articles', { ...content, publish: true }, leaves);
    const write = Date.now() - sinceMs;
    const position = recorder.writes.findLast(({ client }) => client === `probe ${asked}`)?.position;
    if (path === undefined || position === undefined)
      throw new Error('a write was not acknowledged after everything was mended');
    const [read, sse, webhook] = await Promise.all([
      took(author.read(path)),
      took(until(() => hasMessage(position), Boolean, RECOVERED_WITHIN_MS)),
      took(until(() => hasCallback(position), Boolean, RECOVERED_WITHIN_MS)),
    ]);
    return { token, write, read, sse, webhook };
  };
};
