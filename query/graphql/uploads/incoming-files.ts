import type { BusboyFileStream } from '@fastify/busboy';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { type IncomingFile, Upload } from './upload.ts';

/**
 * The files of one request. They are not stored, but streamed from the connection in the order of arrival:
 * asking for one discards those before it.
 */
export type IncomingFiles = {
  /** The value that stands for the file of a part in the operations. */
  uploadOf(name: string): Upload;
  arrive(name: string, file: Arrived): void;
  /** Nothing more arrives; with an error, the rest is missing. */
  end(error?: Error): void;
};

type Arrived = {
  readonly type: string;
  readonly fileName: string | undefined;
  readonly stream: BusboyFileStream;
};

export const createIncomingFiles = (): IncomingFiles => {
  const arrived = new Map<string, Arrived>();
  const gone = new Set<string>();
  const streams = new Set<BusboyFileStream>();
  let handed: BusboyFileStream | undefined;
  let waiting: { readonly name: string; readonly reader: PromiseWithResolvers<IncomingFile> } | undefined;
  let ended: { readonly error: Error | undefined } | undefined;

  const discardBefore = (name: string): void => {
    // Its reader may have left it unread.
    handed?.resume();
    for (const [earlier, { stream }] of arrived) {
      if (earlier === name) return;
      arrived.delete(earlier);
      gone.add(earlier);
      stream.resume();
    }
  };
  const hand = (name: string, { type, fileName, stream }: Arrived): IncomingFile => {
    arrived.delete(name);
    gone.add(name);
    handed = stream;
    return { type, fileName, chunks: read(stream) };
  };
  const absent = (): Error => ended?.error ?? refuse('A file that map names is missing.');

  const open = async (name: string): Promise<IncomingFile> => {
    if (gone.has(name)) throw refuse(READ_TWICE);
    discardBefore(name);
    const found = arrived.get(name);
    if (found) return hand(name, found);
    if (ended || waiting) throw absent();
    waiting = { name, reader: Promise.withResolvers() };
    return waiting.reader.promise;
  };
  return {
    uploadOf: (name) => new Upload(() => open(name)),
    arrive(name, file) {
      const { stream } = file;
      // The reader handles errors; without one, nobody needs to.
      stream.on('error', () => {});
      streams.add(stream);
      if (gone.has(name) || arrived.has(name)) return void stream.resume();
      arrived.set(name, file);
      if (!waiting) return;
      discardBefore(waiting.name);
      if (waiting.name !== name) return;
      waiting.reader.resolve(hand(name, file));
      waiting = undefined;
    },
    end(error) {
      ended ??= { error };
      waiting?.reader.reject(absent());
      waiting = undefined;
      if (error) for (const stream of streams) stream.destroy(error);
    },
  };
};

const READ_TWICE =
  'A file is read only once: use each file once, and send the files in the order in which the operation uses them.';

const read = async function* (stream: BusboyFileStream): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } finally {
    stream.resume();
  }
};

const refuse = (detail: string) => new HttpProblem('malformed_request', { detail });
