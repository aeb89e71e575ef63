import type { Command } from 'commander'
import { group } from './command.ts'
import { accountLedger } from './commands/account-ledger.ts'
import { accountLimit } from './commands/account-limit.ts'
import { accountList } from './commands/account-list.ts'
import { accountClose } from './commands/account-close.ts'
import { accountLock, accountUnlock } from './commands/account-lock.ts'
import { accountOpen } from './commands/account-open.ts'
import { accountPassword } from './commands/account-password.ts'
import { accountSet } from './commands/account-set.ts'
import { accountShow } from './commands/account-show.ts'
import { accountTop } from './commands/account-top.ts'
import { accountTransfer } from './commands/account-transfer.ts'
import { arrivalsList } from './commands/arrivals-list.ts'
import { carrierApply } from './commands/carrier-apply.ts'
import { carrierCheck } from './commands/carrier-check.ts'
import { carrierList } from './commands/carrier-list.ts'
import { carrierShow } from './commands/carrier-show.ts'
import { carrierTest } from './commands/carrier-test.ts'
import { carrierVersions } from './commands/carrier-versions.ts'
import { completion } from './commands/completion.ts'
import { creditsTopUp } from './commands/credits-top-up.ts'
import { creditsVerify } from './commands/credits-verify.ts'
import { databaseCopy, type RunCopy } from './commands/database-copy.ts'
import { dispatcherList } from './commands/dispatcher-list.ts'
import { historyDrop } from './commands/history-drop.ts'
import { idsSkip } from './commands/ids-skip.ts'
import { keyIssue } from './commands/key-issue.ts'
import { keyList } from './commands/key-list.ts'
import { keyRevoke } from './commands/key-revoke.ts'
import { keySet } from './commands/key-set.ts'
import { messageCancel } from './commands/message-cancel.ts'
import { messageExplain } from './commands/message-explain.ts'
import { messageFind } from './commands/message-find.ts'
import { messageRefund } from './commands/message-refund.ts'
import { migrate, type RunMigrate } from './commands/migrate.ts'
import { numberBlock } from './commands/number-block.ts'
import { numberErase } from './commands/number-erase.ts'
import { numberErasures } from './commands/number-erasures.ts'
import { numberExport } from './commands/number-export.ts'
import { numberList } from './commands/number-list.ts'
import { numberUnblock } from './commands/number-unblock.ts'
import { optoutAdd } from './commands/optout-add.ts'
import { optoutExport } from './commands/optout-export.ts'
import { optoutImport } from './commands/optout-import.ts'
import { optoutList } from './commands/optout-list.ts'
import { optoutRemove } from './commands/optout-remove.ts'
import { priceList } from './commands/price-list.ts'
import { priceRemove } from './commands/price-remove.ts'
import { priceSet } from './commands/price-set.ts'
import { queueShow } from './commands/queue-show.ts'
import { secretsReseal } from './commands/secrets-reseal.ts'
import { send } from './commands/send.ts'
import { shortcodeAssign } from './commands/shortcode-assign.ts'
import { shortcodeList } from './commands/shortcode-list.ts'
import { shortcodeRelease } from './commands/shortcode-release.ts'
import { simulateReply } from './commands/simulate-reply.ts'
import { webhookAdd } from './commands/webhook-add.ts'
import { webhookAttempts } from './commands/webhook-attempts.ts'
import { webhookList } from './commands/webhook-list.ts'
import { webhookPause, webhookResume } from './commands/webhook-pause.ts'
import { webhookRemove } from './commands/webhook-remove.ts'
import { webhookReplay } from './commands/webhook-replay.ts'
import { webhookRotate } from './commands/webhook-rotate.ts'
import { webhookShow } from './commands/webhook-show.ts'
import { webhookTest } from './commands/webhook-test.ts'
import type { Run, RunAlone } from './context.ts'

/** What commands need to be run. */
export interface Runs {
  readonly run: Run
  readonly runAlone: RunAlone
  readonly runMigrate: RunMigrate
  readonly runCopy: RunCopy
}

/** The whole command line: its table of contents. */
export const createProgram = ({ run, runAlone, runMigrate, runCopy }: Runs, version: string): Command =>
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
      accountTransfer(run),
    ]),
    group('key', 'issue, list, change and revoke API keys', [keyIssue(run), keyList(run), keySet(run), keyRevoke(run)]),
    group('credits', 'grant credits and verify the ledger', [creditsTopUp(run), creditsVerify(run)]),
    group('price', 'set, remove and list prices by number prefix', [priceSet(run), priceRemove(run), priceList(run)]),
    group('number', 'block and unblock numbers for everybody; show and erase what is stored of one', [
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
    group('arrivals', 'list what people wrote that belongs to no account', [arrivalsList(run)]),
    group('message', 'find, explain, cancel and refund messages', [
      messageFind(run),
      messageExplain(run),
      messageCancel(run),
      messageRefund(run),
    ]),
    group('dispatcher', 'list the dispatchers that run', [dispatcherList(run)]),
    group('carrier', 'list, show and test carriers; check, apply and go back to files of them', [
      carrierList(run),
      carrierShow(run),
      carrierTest(run, runAlone),
      carrierCheck(runAlone),
      carrierApply(run, runAlone),
      carrierVersions(run),
    ]),
    group('queue', 'show what waits to be sent', [queueShow(run)]),
    group('history', 'drop what is older than 90 days', [historyDrop(run)]),
    group('ids', 'leave out ids after a restore', [idsSkip(run)]),
    group('secrets', 'change the key that secrets are stored with', [secretsReseal(run)]),
    send(run),
    group('simulate', 'bring in replies without a carrier', [simulateReply(run)]),
    group('database', 'move to another server', [databaseCopy(runCopy)]),
    migrate(runMigrate),
    completion(runAlone),
  ])
    .version(version, '-V, --version', 'print the version; with --json as {"version":"…","commit":"…"}')
    // A text to send may look like an option of ours.
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
