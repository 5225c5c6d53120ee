// Over 200 lines, because it is one list: the edits of the log and of its proof.
import type { Tampering } from './tampering.ts';

const EVENT = 'event_log.event';
const claimMade = `type = 'claim.made' and position = (select min(position) from ${EVENT} where type = 'claim.made')`;
const last = `position = (select max(position) from ${EVENT})`;
const columns = 'stream, version, id, type, data, metadata, bytes, recorded_at';
const insertAt = (position: string, of: string, more: string) =>
  `insert into ${EVENT} (position, ${columns})
   select ${position}, stream, ${more}, type, data, metadata, bytes, recorded_at from ${EVENT} where ${of}`;

/** The log, the chain, the heads and the tree. */
export const OF_THE_LOG: readonly Tampering[] = [
  {
    name: 'the data of an event is changed',
    sql: `update ${EVENT} set data = jsonb_set(data::jsonb, '{subject}', '"Forged"')::json where ${claimMade}`,
    verify: ['derived_different', 'event_changed', 'event_not_authentic', 'kept_digest_different'],
    watch: ['derived_different', 'event_changed', 'event_not_authentic'],
  },
  {
    name: 'the actor of an event is changed',
    sql: `update ${EVENT} set metadata = jsonb_set(metadata::jsonb, '{actor}', '"user:1"')::json where ${claimMade}`,
    verify: ['derived_different', 'event_changed'],
    watch: ['derived_different', 'event_changed'],
  },
  {
    name: 'the time of an event is changed',
    sql: `update ${EVENT} set metadata = jsonb_set(metadata::jsonb, '{at}', '"2001-01-01T00:00:00.000Z"')::json where ${claimMade}`,
    verify: ['derived_different', 'event_changed', 'kept_digest_different', 'row_different'],
    watch: ['derived_different', 'event_changed'],
  },
  {
    name: 'an event gets another type',
    sql: `update ${EVENT} set type = 'claim.solved' where type = 'claim.returned'`,
    verify: ['derived_different', 'event_changed', 'event_not_authentic', 'kept_digest_different'],
    watch: ['derived_different', 'event_changed', 'event_not_authentic'],
  },
  {
    name: 'an event moves to another stream',
    sql: `update ${EVENT} set stream = 'claim-1' where type = 'claim.returned'`,
    verify: [
      'derived_different',
      'event_changed',
      'kept_digest_different',
      'row_different',
      'row_missing',
      'version_gap',
    ],
    watch: ['derived_different', 'event_changed', 'event_unreadable'],
  },
  {
    name: 'an event gets another id',
    sql: `update ${EVENT} set id = gen_random_uuid() where ${claimMade}`,
    verify: [
      'derived_different',
      'event_changed',
      'kept_digest_different',
      'row_different',
      'row_extra',
      'row_missing',
    ],
    watch: ['derived_different', 'event_changed', 'event_unreadable'],
  },
  {
    name: 'an event gets another version',
    sql: `update ${EVENT} set version = 999 where ${last}`,
    verify: ['chain_ahead', 'derived_different', 'event_changed', 'head_changed', 'version_gap'],
    watch: ['derived_different', 'event_changed'],
  },
  {
    name: 'an event gets another position',
    sql: `update ${EVENT} set position = position + 100 where ${last}`,
    verify: [
      'derived_extra',
      'event_moved',
      'kept_digest_different',
      'position_gap',
      'row_extra',
      'row_missing',
    ],
    watch: ['derived_extra', 'event_missing'],
  },
  {
    name: 'two events change places',
    sql: `update ${EVENT} set position = position + 1000000 where position in (5, 6);
          update ${EVENT} set position = 1000011 - position where position > 1000000`,
    verify: ['derived_different', 'event_moved'],
    watch: ['derived_different', 'event_moved'],
  },
  {
    name: 'an event is removed',
    sql: `delete from ${EVENT} where ${claimMade}`,
    verify: [
      'derived_extra',
      'event_missing',
      'kept_digest_different',
      'position_gap',
      'row_different',
      'row_extra',
      'version_gap',
    ],
    watch: ['derived_extra', 'event_missing'],
  },
  {
    name: 'the newest event is removed',
    sql: `delete from ${EVENT} where ${last}`,
    verify: [
      'chain_ahead',
      'derived_different',
      'derived_missing',
      'kept_digest_different',
      'log_cut',
      'log_shorter_than_read_model',
      'row_extra',
      'row_missing',
    ],
    watch: ['derived_different', 'derived_extra', 'derived_missing', 'event_missing', 'row_different'],
  },
  {
    name: 'the end of the log is removed',
    sql: `delete from ${EVENT} where position > 20`,
    verify: [
      'chain_ahead',
      'derived_different',
      'derived_missing',
      'kept_digest_different',
      'log_cut',
      'log_shorter_than_read_model',
      'row_different',
      'row_extra',
      'row_missing',
    ],
    watch: ['derived_different', 'derived_extra', 'derived_missing', 'event_missing', 'row_different'],
  },
  {
    name: 'a whole stream is removed',
    sql: `delete from ${EVENT} where stream = (select stream from ${EVENT} where ${claimMade})`,
    verify: [
      'derived_extra',
      'event_missing',
      'kept_digest_different',
      'position_gap',
      'row_different',
      'row_extra',
    ],
    watch: ['derived_extra', 'event_missing'],
  },
  {
    name: 'an event is inserted in the middle',
    sql: `update ${EVENT} set position = position + 1000000 where position > 10;
          update ${EVENT} set position = position - 999999 where position > 1000000;
          ${insertAt('11', claimMade, '999, gen_random_uuid()')}`,
    verify: [
      'derived_different',
      'event_inserted',
      'event_moved',
      'kept_digest_different',
      'row_different',
      'row_extra',
      'row_missing',
      'version_gap',
    ],
    watch: ['derived_different', 'event_inserted', 'event_missing', 'event_unreadable', 'row_different'],
  },
  {
    name: 'an event is inserted where no follower reads it',
    sql: `${insertAt('0', claimMade, `999, gen_random_uuid()`)}`,
    verify: ['event_not_authentic'],
    watch: ['event_not_authentic'],
  },
  {
    name: 'an event is appended, and not chained yet',
    sql: insertAt(
      `(select max(position) from ${EVENT}) + 1`,
      `type = 'team.opened' and position = (select min(position) from ${EVENT} where type = 'team.opened')`,
      '2, gen_random_uuid()',
    ),
    verify: ['event_not_authentic'],
    // The background verification reads what is chained.
    watch: [],
  },
  {
    name: 'an event is appended, and its hash to the last block',
    sql: `${insertAt(`(select max(position) from ${EVENT}) + 1`, claimMade, '999, gen_random_uuid()')};
          update audit.block set count = count + 1, events = events + 1, last_position = last_position + 1, hashes = hashes || '\\x${'00'.repeat(32)}'
          where count = (select max(count) from audit.block)`,
    verify: ['event_changed'],
    watch: ['event_changed'],
  },
  {
    name: 'a hash in a block is changed',
    sql: `update audit.block set hashes = overlay(hashes placing '\\x00000000' from 1 for 4) where count = (select min(count) from audit.block)`,
    verify: ['block_changed'],
    watch: ['block_changed', 'event_changed', 'head_changed', 'tile_changed', 'tree_head_wrong'],
  },
  {
    name: 'the head of a block is changed',
    sql: `update audit.block set head = overlay(head placing '\\x00000000' from 1 for 4) where count = (select max(count) from audit.block)`,
    verify: ['block_changed'],
    watch: ['block_changed'],
  },
  {
    name: 'a block is removed',
    sql: 'delete from audit.block where count = (select max(count) from audit.block)',
    verify: ['tree_head_wrong'],
    watch: [],
  },
  {
    name: 'the whole chain is removed',
    sql: 'delete from audit.block',
    verify: ['tree_head_wrong'],
    watch: [],
  },
  {
    name: 'a signed head is changed',
    sql: `update audit.head set statement = replace(statement, '"count":', '"count": ')`,
    verify: ['head_missing', 'head_signature_wrong'],
    watch: ['head_changed'],
  },
  {
    name: 'a signature of a head is replaced',
    sql: `update audit.head set signature = decode(repeat('00', 64), 'hex')`,
    verify: ['head_missing', 'head_signature_wrong'],
    watch: ['head_changed'],
  },
  {
    name: 'the signed heads are removed from the database',
    sql: 'delete from audit.head',
    verify: ['head_missing'],
    watch: [],
  },
  {
    name: 'a head is changed in the file',
    file: { name: 'heads.jsonl', edit: (text) => text.replace('\\"count\\":', '\\"count\\":1') },
    verify: ['head_missing', 'head_signature_wrong'],
    watch: [],
  },
  {
    name: 'the file of heads is emptied',
    file: { name: 'heads.jsonl', edit: () => '' },
    verify: ['head_missing'],
    watch: [],
  },
  {
    name: 'the file of keys is emptied',
    file: { name: 'keys.jsonl', edit: () => '' },
    verify: [],
    watch: [],
  },
  {
    name: 'the public part of the key is replaced',
    sql: `update audit.signing_key set public_key = decode(repeat('01', 32), 'hex')`,
    verify: ['key_not_endorsed'],
    watch: ['head_changed'],
  },
  {
    name: 'a tile of the tree is changed',
    sql: `update audit.tile set hashes = overlay(hashes placing '\\x00000000' from 1 for 4)`,
    verify: ['tile_changed'],
    watch: ['tile_changed'],
  },
  {
    name: 'a tile of the tree is removed',
    sql: 'delete from audit.tile where index = 0',
    verify: ['tile_missing'],
    watch: ['tile_missing'],
  },
  {
    name: 'the note of the tree is replaced',
    sql: `update audit.tree_head set note = replace(note, E'\\n\\n', E'x\\n\\n')`,
    verify: ['tree_head_wrong'],
    watch: ['tree_head_wrong'],
  },
  {
    name: 'the size of the tree is set back',
    sql: 'update audit.tree_head set size = size - 10',
    verify: ['tree_head_wrong'],
    watch: ['tree_head_wrong'],
  },
  {
    name: 'the head of the tree is removed',
    sql: 'delete from audit.tree_head',
    verify: ['tile_changed'],
    watch: ['tile_changed'],
  },
  {
    name: 'the head of the tree outside is replaced',
    file: { name: 'checkpoint', edit: (text) => text.replace(/^(.*\n.*\n)./, '$1A') },
    verify: ['tree_head_wrong'],
    watch: ['tree_head_wrong'],
  },
  {
    name: 'the log gets another identity',
    sql: 'update event_log.identity set id = gen_random_uuid()',
    verify: ['refused'],
    watch: ['refused'],
  },
  {
    name: 'the log is said to have lost its history',
    sql: 'insert into event_log.lost_history (log) values (gen_random_uuid())',
    verify: [],
    watch: [],
  },
];
