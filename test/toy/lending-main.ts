import { start } from '../../start.ts';
import { lending } from './lending.ts';

await start({ domain: async () => lending });
