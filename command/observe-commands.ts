import { Histogram, type Registry } from 'prom-client';
import { Rejection } from '#shared/rejection.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Times every command, by its type and by what it came to: done, the code of its refusal, or failed. */
export const observeCommands = (registry: Registry): (<Answer>(type: string, handle: () => Promise<Answer>) => Promise<Answer>) => {
  const duration = new Histogram({
    name: 'annals_command_duration_seconds',
    help: 'From taking a command to its durable append, or to its refusal.',
    labelNames: ['type', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  });
  return async (type, handle) => {
    const end = duration.startTimer({ type });
    try {
      const answer = await handle();
      end({ outcome: 'done' });
      return answer;
    } catch (error) {
      end({ outcome: error instanceof Rejection ? error.code : 'failed' });
      throw error;
    }
  };
};
