import { runRoleAlone } from '#process/run-role.ts';
import { served } from '../served.ts';

/** Starts this role alone, as `node main.ts auth` does. */
await runRoleAlone('auth', () => import('./role.ts'), served);
