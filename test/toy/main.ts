import { start } from '../../start.ts';
import { helpdesk } from './helpdesk.ts';

await start({ domain: async () => helpdesk });
