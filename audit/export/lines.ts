import { createReadStream } from 'node:fs';
import { StartRefused } from '#shared/start-refused.ts';

const CHUNK_BYTES = 1_048_576;
const LINE_END = 10;

/** The lines of a file, many at a time. Only this one sign ends a line, unlike for those who read text for people. */
export async function* linesOf(path: string, take: (chunk: Buffer) => void = () => {}): AsyncGenerator<readonly string[]> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    take(chunk);
    const end = chunk.lastIndexOf(LINE_END);
    if (end === -1) {
      rest.push(chunk);
      continue;
    }
    const whole = Buffer.concat([...rest, chunk.subarray(0, end)]).toString('utf8');
    rest = [chunk.subarray(end + 1)];
    yield whole.split('\n');
  }
  if (rest.some(({ length }) => length > 0)) throw new StartRefused(`${path} ends in the middle of a line.`);
}
