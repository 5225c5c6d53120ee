import { type BellOptions, PostgresBell } from '#shared/database/bell/bell.ts';

/** The schema that reads are served from. */
export const LIVE_SCHEMA = 'read_model';

/** The follower whose checkpoint says how far the live schema is. */
export const PROJECTOR = 'projector';

/** Rung by the projector after its commits, heard by whoever waits to read what they wrote; one for both in one process. */
export type ReadModelBell = PostgresBell;

export const openReadModelBell = (place: Omit<BellOptions, 'channel'>): ReadModelBell =>
  new PostgresBell({ ...place, channel: 'annals_read_model' });
