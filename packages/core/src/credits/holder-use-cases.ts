import { holderCommand } from '../command.ts'
import type { HolderPorts } from '../ports.ts'
import { creditBalance, listStatement, showStatement, transferCredits } from './move-credits.ts'

export const creditQueries = (ports: HolderPorts) => ({
  creditBalance: creditBalance(ports),
  listStatement: listStatement(ports),
  showStatement: showStatement(ports),
})

export const creditCommands = {
  transferCredits: holderCommand({
    role: 'owner',
    run: transferCredits,
    audit: (_account, transfer) => ({ given: { ...transfer } }),
  }),
}
