import { test } from 'vitest';
import { operate } from '../engines/installation.ts';
import { expectRecorded } from './expect-recorded.ts';

test('annals graphql schema prints what was recorded', async () => {
  expectRecorded('graphql.graphql', `${await operate(['graphql', 'schema'], {})}\n`);
});
