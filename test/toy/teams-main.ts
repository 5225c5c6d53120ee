import { start } from '../../start.ts';
import { teams } from './teams.ts';

await start({ domain: async () => teams });
