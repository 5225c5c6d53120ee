import { IN_PROCESS_SUITES } from './in-process-suites.ts';
import { demandNginx } from './nginx.ts';

/** Before a run with copies of the roles: it cannot be without nginx, and says what it leaves out. */
export const setup = (): void => {
  demandNginx();
  const lines = Object.entries(IN_PROCESS_SUITES).map(([suite, reason]) => `  ${suite}: ${reason}`);
  process.stdout.write(
    `Each role runs in two processes behind nginx. These suites have one process, here or in npm test:\n${lines.join('\n')}\n`,
  );
};
