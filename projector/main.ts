import { runRoleAlone } from '#process/run-role.ts';
import { served } from '../served.ts';

/** The role on its own, for `node main.ts projector`. */
await runRoleAlone('projector', () => import('./role.ts'), served);
