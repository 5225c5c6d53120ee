import { notesWith } from './notes.ts';

export const notes = notesWith({});
