import { runRoleAlone } from '#process/run-role.ts';
import { served } from '../served.ts';

/** Starts only this role, like `node main.ts query`. */
await runRoleAlone('query', () => import('./role.ts'), served);
