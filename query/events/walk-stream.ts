import type { Position, StreamName } from '#shared/brands.ts';
import type { ChangePage } from '#shared/change-stream/change-stream.ts';
import { type ChangeReaderOptions, createChangeReader } from '#shared/change-stream/changes.ts';
import { firstAfter } from './first-after.ts';
import type { Walk } from './read-page.ts';

/** What happened to one thing, out of its own stream; up to a position, which the read model has reached. */
export const walkStream = (options: ChangeReaderOptions, stream: StreamName, upTo: Position): Walk =>
  async function* walk(after, signal): AsyncGenerator<ChangePage> {
    // One that has seen nothing else takes what it is given for all there is of it, which is true here.
    const reader = createChangeReader(options);
    let last = after;
    for await (const events of options.eventLog.read(stream, await firstAfter(options.eventLog, stream, after))) {
      const next = events.filter(({ position }) => position > last && position <= upTo);
      if (next.length > 0) {
        const page = await reader.toPage(next, last);
        yield page;
        last = page.upTo;
      }
      if ((events.at(-1)?.position ?? upTo) >= upTo) break;
      // Not sooner, because who is given nothing would ask for the same again.
      if (signal.aborted) return;
    }
    yield { changes: [], upTo };
  };
