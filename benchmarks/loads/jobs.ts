import { runOneRowCommits } from '../limits/one-row-commits.ts'
import { runPlainLife } from '../limits/plain-life.ts'
import { runRawInserts } from '../limits/raw-inserts.ts'
import { runRawSelect } from '../limits/raw-select.ts'
import { runBareClient } from './bare-client.ts'
import { runAskLoad } from './ask-load.ts'
import { runDirectPushes } from './direct-pushes.ts'
import { runKannelSends } from './kannel-load.ts'
import { runFirstPage, runOpenPages, runPageLoad } from './page-load.ts'
import { runSendLoad } from './send-load.ts'
import { countIdleBinds, runIdleBinds, runSubmitLoad } from './submit-load.ts'
import { runReceived, runReceiver } from './webhook-receiver.ts'

/** Loads that a worker process can run, by name. */
export const jobs = {
  sends: runSendLoad,
  submits: runSubmitLoad,
  idleBinds: runIdleBinds,
  openIdleBinds: countIdleBinds,
  kannelSends: runKannelSends,
  asks: runAskLoad,
  pages: runPageLoad,
  firstPage: runFirstPage,
  openPages: runOpenPages,
  rawInserts: runRawInserts,
  oneRowCommits: runOneRowCommits,
  rawSelect: runRawSelect,
  plainLife: runPlainLife,
  bareClient: runBareClient,
  receiver: runReceiver,
  received: runReceived,
  directPushes: runDirectPushes,
}

export type Jobs = typeof jobs
