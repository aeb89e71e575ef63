import type { Attack } from '../attack.ts'
import { formsInPieces, wrongKeysInPieces, xmlInPieces } from './bodies-in-pieces.ts'
import { deepJson } from './deep-json.ts'
import { deepPages } from './deep-pages.ts'
import { entityBombs } from './entity-bombs.ts'
import { heavyXml } from './heavy-xml.ts'
import { listsOfXml, longAnswers, replays, statusRequests } from './long-answers.ts'
import { madeUpLogIns, madeUpLogInsOfManyNetworks } from './made-up-log-ins.ts'
import { malformedXml } from './malformed-xml.ts'
import { idleConnections, shortConnections } from './many-connections.ts'
import { pipelinedLongHeaders, pipelinedWrongKeys, pipelinedWrongKeysOfSixty } from './pipelined-requests.ts'
import { portalDownloads, statementDownloads } from './portal-downloads.ts'
import { readPublicDocuments, unreadPublicDocuments } from './public-documents.ts'
import { refusedByWords } from './refused-by-words.ts'
import { smppFlood, smppGarbage, smppStrangers, smppUnread } from './smpp-clients.ts'
import { slowBodies, slowHeaders, unfinishedHeaders } from './slow-requests.ts'
import { unfinishedBodies } from './unfinished-bodies.ts'
import { unreadAnswers } from './unread-answers.ts'

export const attacks: readonly Attack[] = [
  heavyXml,
  malformedXml,
  entityBombs,
  unfinishedBodies,
  formsInPieces,
  xmlInPieces,
  wrongKeysInPieces,
  deepJson,
  deepPages,
  ...longAnswers,
  unreadAnswers,
  ...portalDownloads,
  readPublicDocuments,
  unreadPublicDocuments,
  pipelinedWrongKeys,
  pipelinedWrongKeysOfSixty,
  pipelinedLongHeaders,
  madeUpLogIns,
  madeUpLogInsOfManyNetworks,
  refusedByWords,
  slowHeaders,
  slowBodies,
  unfinishedHeaders,
  idleConnections,
  shortConnections,
  smppGarbage,
  smppFlood,
  smppUnread,
  smppStrangers,
]

/** One attack of each kind, for the short form, which runs beside other tests. */
export const fewAttacks: readonly Attack[] = [
  entityBombs,
  unfinishedBodies,
  formsInPieces,
  deepJson,
  statusRequests,
  replays,
  listsOfXml,
  unreadAnswers,
  pipelinedWrongKeys,
  madeUpLogIns,
  slowHeaders,
  idleConnections,
  statementDownloads,
  smppGarbage,
  smppFlood,
]
