import { runRoleAlone } from '#process/run-role.ts';
import { served } from '../served.ts';

/** The role on its own, for `node main.ts webhook-dispatcher`. */
await runRoleAlone('webhook-dispatcher', () => import('./role.ts'), served);
