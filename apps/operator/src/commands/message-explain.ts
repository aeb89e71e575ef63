import { whyWaiting, type MessageId } from '@gateway/core'
import { readMessageId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { traceJson } from '../trace/trace-json.ts'
import { traceText } from '../trace/trace-text.ts'

export const messageExplain = (run: Run) =>
  command('explain', 'tell what happened to a message; never its text', 'gateway message explain 20481')
    .argument('<id>', "the message's id", readMessageId)
    .action((id: MessageId) =>
      run(async ({ backOffice, output, ports }) => {
        const trace = await backOffice.explainMessage(id)
        if (trace === undefined) {
          throw new Refused(`There is no message ${id}: nobody was given this id, or its history was dropped.`)
        }
        const now = ports.clock.now()
        const waiting = whyWaiting(trace, await backOffice.listCarriers())
        output.one(traceJson(trace, now, waiting), traceText(trace, now, waiting))
      }),
    )
