import { demandNginx } from './nginx.ts';

/** Setup of a run with two processes of each role: it needs nginx. */
export const setup = (): void => demandNginx();
