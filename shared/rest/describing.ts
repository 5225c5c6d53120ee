// Imported for its effect by whatever describes the answers of the interface.

import { provideAll } from '#kernel/base/later.ts';
import * as history from '#kernel/base/rest/history.ts';
import * as itemProof from '#kernel/base/rest/item-proof.ts';
import * as readers from '#kernel/base/rest/readers.ts';
import { ANSWERS } from './answers.ts';
import * as erasure from './erasure.ts';
import * as eventTypes from './event-types.ts';
import * as events from './events.ts';
import * as operators from './operator.ts';
import * as recordedEvent from './recorded-event.ts';

provideAll(ANSWERS, { history, itemProof, readers, erasure, eventTypes, events, operators, recordedEvent });
