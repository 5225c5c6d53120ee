import type { BusboyFileStream } from '@fastify/busboy';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { type IncomingFile, Upload } from './upload.ts';

/**
 * The files of one request. Nothing of them is kept anywhere but in the buffers of the connection, so that
 * they are read in the order in which they come: whoever asks for one lets those before it go by.
 */
export type IncomingFiles = {
  /** What stands in the operations for the file of a part. */
  uploadOf(name: string): Upload;
  arrive(name: string, type: string, stream: BusboyFileStream): void;
  /** Nothing comes any more; with an error, what has come is not whole. */
  end(error?: Error): void;
};

type Arrived = { readonly type: string; readonly stream: BusboyFileStream };

export const createIncomingFiles = (): IncomingFiles => {
  const arrived = new Map<string, Arrived>();
  const gone = new Set<string>();
  const streams = new Set<BusboyFileStream>();
  let handed: BusboyFileStream | undefined;
  let waiting: { readonly name: string; readonly reader: PromiseWithResolvers<IncomingFile> } | undefined;
  let ended: { readonly error: Error | undefined } | undefined;

  const letGoBefore = (name: string): void => {
    // Whoever had it may have read nothing of it.
    handed?.resume();
    for (const [earlier, { stream }] of arrived) {
      if (earlier === name) return;
      arrived.delete(earlier);
      gone.add(earlier);
      stream.resume();
    }
  };
  const hand = (name: string, { type, stream }: Arrived): IncomingFile => {
    arrived.delete(name);
    gone.add(name);
    handed = stream;
    return { type, chunks: read(stream) };
  };
  const absent = (): Error => ended?.error ?? refuse('The file that map names did not come.');

  const open = async (name: string): Promise<IncomingFile> => {
    if (gone.has(name)) throw refuse(READ_TWICE);
    letGoBefore(name);
    const found = arrived.get(name);
    if (found) return hand(name, found);
    if (ended || waiting) throw absent();
    waiting = { name, reader: Promise.withResolvers() };
    return waiting.reader.promise;
  };
  return {
    uploadOf: (name) => new Upload(() => open(name)),
    arrive(name, type, stream) {
      // Failing is for its reader to notice; where it has none, nobody has to.
      stream.on('error', () => {});
      streams.add(stream);
      if (gone.has(name) || arrived.has(name)) return void stream.resume();
      arrived.set(name, { type, stream });
      if (!waiting) return;
      letGoBefore(waiting.name);
      if (waiting.name !== name) return;
      waiting.reader.resolve(hand(name, { type, stream }));
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
  'A file is read once: send the files in the order in which the operation uses them, each for one place.';

const read = async function* (stream: BusboyFileStream): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } finally {
    stream.resume();
  }
};

const refuse = (detail: string) => new HttpProblem('malformed_request', { detail });
