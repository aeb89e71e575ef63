import type { AccountId } from '../accounts/account.ts'
import { stateOfAccount } from '../accounts/operator-use-cases.ts'
import { operatorCommand } from '../command.ts'
import type { OperatorPorts } from '../ports.ts'
import { gatewayDay, type GatewayDay } from '../time/gateway-time.ts'
import { dailySumDays } from './daily-sums.ts'
import { dropHistory, skipIds } from './drop-history.ts'
import { cancelMessage, findMessages } from './follow-messages.ts'
import type { MessageTrace } from './message-trace.ts'
import type { MessageId } from './message-id.ts'
import type { SenderAddress } from './msisdn.ts'
import { allowSender, type AllowedSender, type AssignedCode } from './senders.ts'
import { showTraffic } from './show-sent.ts'

export const messageQueries = (ports: OperatorPorts) => ({
  explainMessage: (id: MessageId): Promise<MessageTrace | undefined> => ports.sentMessages.trace(id),
  findMessages: findMessages(ports),
  verifyDailySums: () => ports.dailySums.check((gatewayDay(ports.clock.now()) - dailySumDays.checked) as GatewayDay),
  showTraffic: showTraffic(ports),
  listAllowedSenders: (): Promise<readonly AllowedSender[]> => ports.senders.allowed(),
  listShortCodes: (): Promise<readonly AssignedCode[]> => ports.senders.assigned(),
})

export const messageCommands = {
  cancelMessage: operatorCommand({
    role: 'admin',
    run: cancelMessage,
    audit: (message) => ({ given: { message }, outcome: (done) => done?.deletion.outcome ?? 'no-such-message' }),
  }),
  dropHistory: operatorCommand({
    role: 'admin',
    run: (ports, { contactDays }) => dropHistory(ports, contactDays),
    audit: () => ({}),
  }),
  skipIds: operatorCommand({ role: 'admin', run: skipIds, audit: (blocks) => ({ given: { blocks } }) }),
  assignShortCode: operatorCommand({
    role: 'admin',
    run: (ports) => (code: SenderAddress, id: AccountId) => ports.senders.assign(code, id),
    audit: (code, account) => ({ ...stateOfAccount(account), given: { code } }),
  }),
  releaseShortCode: operatorCommand({
    role: 'admin',
    run: (ports) => (code: SenderAddress) => ports.senders.release(code),
    audit: (code) => ({ given: { code } }),
  }),
  allowSender: operatorCommand({
    role: 'admin',
    run: allowSender,
    audit: ({ account, ...details }) => ({ account, given: { ...details } }),
  }),
  disallowSender: operatorCommand({
    role: 'admin',
    run: (ports) => (account: AccountId, sender: SenderAddress) => ports.senders.disallow(account, sender),
    audit: (account, sender) => ({ account, given: { sender } }),
  }),
}
