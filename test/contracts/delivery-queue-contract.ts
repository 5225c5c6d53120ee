import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WebhookId } from '#kernel/base/brands.ts';
import { until } from '../../testing/until.ts';
import type { DeliveryQueue } from '../../webhook-dispatcher/queue/delivery-queue.ts';

type QueueEngine = AsyncDisposable & {
  /** Opens a queue of this name, as one process does. */
  open(name: string): Promise<DeliveryQueue>;
};

let names = 0;
const newName = (): string => {
  names += 1;
  return `webhooks-${process.pid}-${names}`;
};
const id = (number: number) => number as WebhookId;
const ids = (count: number) => Array.from({ length: count }, (_, index) => id(index + 1));

/** A worker that records its runs, and continues when it is released. */
const workOn = async (queue: DeliveryQueue, { concurrency = 10, isHeld = false } = {}) => {
  const begun: WebhookId[] = [];
  const gates: (() => void)[] = [];
  const running = new Set<WebhookId>();
  const state = { isHeld, wasTwiceAtOnce: false };
  const run = async (webhookId: WebhookId): Promise<void> => {
    if (running.has(webhookId)) state.wasTwiceAtOnce = true;
    running.add(webhookId);
    begun.push(webhookId);
    if (state.isHeld) await new Promise<void>((resolve) => gates.push(resolve));
    running.delete(webhookId);
  };
  const worker = await queue.work(run, { concurrency });
  const letGo = () => {
    state.isHeld = false;
    for (const open of gates.splice(0)) open();
  };
  return { begun, running, state, letGo, [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose]() };
};

const untilBegun = (begun: readonly WebhookId[], count: number) =>
  until(
    () => begun.length,
    (length) => length >= count,
  );

/** The contract of every queue of webhooks. */
export const testDeliveryQueue = (name: string, openEngine: () => Promise<QueueEngine>): void => {
  describe(`the queue of webhooks: ${name}`, () => {
    let engine: QueueEngine;
    beforeAll(async () => {
      engine = await openEngine();
    });
    afterAll(() => engine?.[Symbol.asyncDispose]());

    test('runs each queued webhook once, however often it is queued before the run', async () => {
      await using queue = await engine.open(newName());
      for (let times = 0; times < 3; times += 1) await queue.enqueue(ids(20));
      expect(await queue.waiting()).toBe(20);
      await using worker = await workOn(queue);
      await untilBegun(worker.begun, 20);
      await until(
        () => queue.waiting(),
        (waiting) => waiting === 0,
      );
      expect(worker.begun.toSorted((one, other) => one - other)).toEqual(ids(20));
    });

    test('runs a webhook again that is queued during its run', async () => {
      await using queue = await engine.open(newName());
      await using worker = await workOn(queue, { isHeld: true });
      await queue.enqueue([id(7)]);
      await untilBegun(worker.begun, 1);
      for (let times = 0; times < 3; times += 1) await queue.enqueue([id(7)]);
      // Another one arrives and runs in between, so that the first would have run, too.
      await queue.enqueue([id(8)]);
      await untilBegun(worker.begun, 2);
      expect(worker.begun).toEqual([7, 8]);
      worker.letGo();
      await untilBegun(worker.begun, 3);
      expect(worker.begun).toEqual([7, 8, 7]);
      expect(worker.state.wasTwiceAtOnce).toBe(false);
    });

    test('runs webhooks taken over, once for each previous run, even if one still counts as active', async () => {
      await using queue = await engine.open(newName());
      await using worker = await workOn(queue, { isHeld: true });
      await queue.enqueue([id(7)]);
      await untilBegun(worker.begun, 1);
      for (let times = 0; times < 3; times += 1) {
        await queue.takeOver([{ webhookId: id(7), epoch: 1 }]);
        await queue.enqueue([id(7)]);
      }
      await untilBegun(worker.begun, 2);
      await queue.takeOver([{ webhookId: id(7), epoch: 2 }]);
      await queue.enqueue([id(8)]);
      await untilBegun(worker.begun, 4);
      expect(worker.begun).toEqual([7, 7, 7, 8]);
      worker.letGo();
    });

    test('runs others while one hangs, within the limit of concurrency', async () => {
      await using queue = await engine.open(newName());
      await using worker = await workOn(queue, { concurrency: 3, isHeld: true });
      await queue.enqueue(ids(10));
      await untilBegun(worker.begun, 3);
      expect(worker.running.size).toBe(3);
      worker.letGo();
      await untilBegun(worker.begun, 10);
    });

    test('a failed webhook can be queued again', async () => {
      await using queue = await engine.open(newName());
      let tries = 0;
      const fail = async () => {
        tries += 1;
        throw new RangeError('not today');
      };
      await using _worker = await queue.work(fail, { concurrency: 1 });
      for (const times of [1, 2, 3]) {
        await until(
          async () => {
            // A job that is about to end takes the next one with it.
            await queue.enqueue([id(1)]);
            return tries;
          },
          (tried) => tried >= times,
        );
      }
    });

    test('is shared between processes, and one of them runs a webhook', async () => {
      const shared = newName();
      await using one = await engine.open(shared);
      await using other = await engine.open(shared);
      await using first = await workOn(one, { concurrency: 5, isHeld: true });
      await using second = await workOn(other, { concurrency: 5, isHeld: true });
      await one.enqueue(ids(10));
      await until(
        () => first.running.size + second.running.size,
        (running) => running === 10,
      );
      expect([first.running.size, second.running.size]).toEqual([5, 5]);
      expect([...first.running, ...second.running].toSorted((a, b) => a - b)).toEqual(ids(10));
      first.letGo();
      second.letGo();
    });

    test('ends a worker once its runs have ended', async () => {
      await using queue = await engine.open(newName());
      const worker = await workOn(queue, { isHeld: true });
      await queue.enqueue([id(1)]);
      await untilBegun(worker.begun, 1);
      let hasEnded = false;
      const ending = worker[Symbol.asyncDispose]().then(() => {
        hasEnded = true;
      });
      await queue.enqueue([id(2)]);
      expect(hasEnded).toBe(false);
      worker.letGo();
      await ending;
      // The other one may have been taken before the worker received its signal.
      expect((await queue.waiting()) + worker.begun.length).toBe(2);
    });
  });
};
