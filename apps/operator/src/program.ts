import type { Command } from 'commander'
import { group, type Look, type Run, type RunAlone } from './command.ts'
import { accountLedger, accountTop, accountTransfer } from './commands/account-credits.ts'
import {
  accountUserAdd,
  accountUserForgetFactor,
  accountUserLink,
  accountUserList,
  accountUserLock,
  accountUserRemove,
  accountUserRole,
  accountUserUnlock,
} from './commands/account-user.ts'
import {
  accountLimit,
  accountList,
  accountClose,
  accountLock,
  accountUnlock,
  accountOpen,
  accountFactor,
  accountPassword,
  accountSet,
  accountShow,
} from './commands/account.ts'
import { arrivalsList, simulateReply } from './commands/arrivals.ts'
import { auditExport, auditList, auditVerify } from './commands/audit.ts'
import {
  backupCreate,
  backupList,
  backupPrune,
  backupRestore,
  backupVerify,
  type RunBackup,
} from './commands/backup.ts'
import { carrierApply, carrierVersions } from './commands/carrier-versions.ts'
import { carrierCheck, carrierList, carrierShow } from './commands/carrier.ts'
import { carrierDrain, carrierPause, carrierResume } from './commands/carrier-mode.ts'
import { carrierReceipts } from './commands/carrier-receipts.ts'
import { carrierTest } from './commands/carrier-test.ts'
import { carrierWatch } from './commands/carrier-watch.ts'
import { completion } from './commands/completion.ts'
import { creditsTopUp, creditsVerify } from './commands/credits.ts'
import {
  databaseCopy,
  historyDrop,
  idsSkip,
  migrate,
  secretsReseal,
  type RunCopy,
  type RunMigrate,
} from './commands/database.ts'
import { databaseUpgrade } from './commands/database-upgrade.ts'
import { failoverResume, failoverStatus } from './commands/failover.ts'
import { init } from './commands/init.ts'
import { dispatcherList, queueShow } from './commands/queue.ts'
import { doctor } from './commands/doctor.ts'
import { keyIssue, keyList, keyRevoke, keySet } from './commands/key.ts'
import { messageCancel, messageExplain, messageFind, messageRefund } from './commands/message.ts'
import { numberBlock, numberList, numberUnblock } from './commands/number.ts'
import { numberErase, numberErasures, numberExport } from './commands/number-data.ts'
import { optoutAdd, optoutExport, optoutImport, optoutList, optoutRemove } from './commands/optout.ts'
import {
  operatorAdd,
  operatorList,
  operatorLock,
  operatorForgetFactor,
  operatorPassword,
  operatorRole,
  operatorUnlock,
} from './commands/operator.ts'
import { priceList, priceRemove, priceSet } from './commands/price.ts'
import { send } from './commands/send.ts'
import { senderAdd, senderList, senderRemove } from './commands/sender.ts'
import { shortcodeAssign, shortcodeList, shortcodeRelease } from './commands/shortcode.ts'
import {
  smppAdd,
  smppBinds,
  smppList,
  smppRemove,
  smppReplies,
  smppRotate,
  smppSet,
  smppShow,
} from './commands/smpp.ts'
import { top } from './commands/top.ts'
import {
  webhookAdd,
  webhookAttempts,
  webhookList,
  webhookPause,
  webhookResume,
  webhookRemove,
  webhookRotate,
  webhookShow,
  webhookTest,
} from './commands/webhook.ts'
import { webhookReplay } from './commands/webhook-replay.ts'

/** Functions that run the work of a command: with a database, without one, or to migrate, copy or back up. */
export interface Runs {
  readonly run: Run
  readonly runAlone: RunAlone
  readonly look: Look
  readonly runMigrate: RunMigrate
  readonly runCopy: RunCopy
  readonly runBackup: RunBackup
}

/** Creates the whole command line. This function is its table of contents. */
export const createProgram = (
  { run, runAlone, look, runMigrate, runCopy, runBackup }: Runs,
  version: string,
): Command =>
  group('gateway', 'Operates the SMS gateway: accounts, keys, credits, prices, numbers, messages.', [
    group('account', 'open, list, show, change, lock and close accounts, move and follow their credits', [
      accountOpen(run),
      accountList(run),
      accountShow(run),
      accountTop(run),
      accountSet(run),
      accountLimit(run),
      accountLedger(run),
      accountLock(run),
      accountUnlock(run),
      accountClose(run),
      accountPassword(run),
      accountFactor(run),
      accountTransfer(run),
      group('user', 'let people sign in at the portal for an account, each with a password and a role of their own', [
        accountUserAdd(run),
        accountUserList(run),
        accountUserLink(run),
        accountUserRole(run),
        accountUserLock(run),
        accountUserUnlock(run),
        accountUserRemove(run),
        accountUserForgetFactor(run),
      ]),
    ]),
    group('key', 'issue, list, change and revoke API keys', [keyIssue(run), keyList(run), keySet(run), keyRevoke(run)]),
    group('credits', 'grant credits and verify the ledger', [creditsTopUp(run), creditsVerify(run)]),
    group('price', 'set, remove and list prices by number prefix', [priceSet(run), priceRemove(run), priceList(run)]),
    group('number', 'block and unblock numbers for all accounts; show and erase the data stored about a number', [
      numberBlock(run),
      numberUnblock(run),
      numberList(run),
      numberExport(run),
      numberErase(run),
      numberErasures(run),
    ]),
    group('shortcode', 'assign, release and list short and long codes', [
      shortcodeAssign(run),
      shortcodeRelease(run),
      shortcodeList(run),
    ]),
    group('sender', 'add, remove and list the senders that accounts may use', [
      senderAdd(run),
      senderRemove(run),
      senderList(run),
    ]),
    group('optout', 'add, remove, list, import and export opt-outs of an account', [
      optoutAdd(run),
      optoutRemove(run),
      optoutList(run),
      optoutImport(run),
      optoutExport(run),
    ]),
    group('webhook', 'push events to URLs of accounts: add, change and test webhooks, see attempts, replay events', [
      webhookAdd(run),
      webhookList(run),
      webhookShow(run),
      webhookPause(run),
      webhookResume(run),
      webhookRotate(run),
      webhookRemove(run),
      webhookTest(run),
      webhookAttempts(run),
      webhookReplay(run),
    ]),
    group('smpp', 'let the software of customers bind over SMPP: credentials, binds, who gets replies', [
      smppAdd(run),
      smppList(run),
      smppShow(run),
      smppSet(run),
      smppRotate(run),
      smppRemove(run),
      smppBinds(run),
      smppReplies(run),
    ]),
    group('arrivals', 'list incoming messages that belong to no account', [arrivalsList(run)]),
    group('message', 'find, explain, cancel and refund messages', [
      messageFind(run),
      messageExplain(run),
      messageCancel(run),
      messageRefund(run),
    ]),
    group('dispatcher', 'list the running dispatchers', [dispatcherList(run)]),
    group(
      'carrier',
      'list, show, watch, pause and test carriers; check and apply carriers documents, list their versions',
      [
        carrierList(run),
        carrierShow(run),
        carrierPause(run),
        carrierDrain(run),
        carrierResume(run),
        carrierReceipts(run),
        carrierWatch(run),
        carrierTest(run, runAlone),
        carrierCheck(runAlone),
        carrierApply(run, runAlone),
        carrierVersions(run),
      ],
    ),
    doctor(look),
    top(run),
    group('failover', 'decide about messages in doubt after a database standby was promoted', [
      failoverStatus(run),
      failoverResume(run),
    ]),
    group('queue', 'show the messages that wait to be sent', [queueShow(run)]),
    group('operator', 'add, list, lock and change the people who run the gateway at the portal', [
      operatorAdd(run),
      operatorList(run),
      operatorLock(run),
      operatorUnlock(run),
      operatorRole(run),
      operatorPassword(run),
      operatorForgetFactor(run),
    ]),
    group('audit', 'list, verify and export the changes of operators', [
      auditList(run),
      auditVerify(run),
      auditExport(run),
    ]),
    group('history', 'drop messages that are older than 90 days', [historyDrop(run)]),
    group('ids', 'skip message ids after a restore', [idsSkip(run)]),
    group('secrets', 'change the key that encrypts stored secrets', [secretsReseal(run)]),
    send(run),
    group('simulate', 'create incoming messages without a carrier', [simulateReply(run)]),
    group('backup', 'make, verify, list, prune and restore backups', [
      backupCreate(runBackup),
      backupVerify(runAlone),
      backupList(runAlone),
      backupPrune(runAlone),
      backupRestore(runBackup, runAlone),
    ]),
    group('database', 'move to another server, or to the next major version of the embedded PostgreSQL', [
      databaseCopy(runCopy),
      databaseUpgrade(runAlone),
    ]),
    migrate(runMigrate),
    init(runAlone),
    completion(runAlone),
  ])
    .version(version, '-V, --version', 'print the version; with --json as {"version":"…","commit":"…"}')
    // Options of the program are read only before the command, because the text of a message may look like an option.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
The database is that of DATABASE_URL, or the embedded one under DATA_DIR (./data);
a running server may use it at the same time.
With --json the result is one JSON document on standard output, an error is
{"error":"…"} on standard error.
Exit codes: 0 done, 1 refused, 2 called wrongly, 3 the database or the gateway is
out of order.`,
    )
