import { publishing } from '#domain/publishing.ts';
import { start } from './start.ts';

await start(publishing);
