import { start } from '../../start.ts';
import { care } from './care.ts';

await start({ domain: async () => care });
