import { formatCredits, type MessageId } from '@gateway/core'
import { readMessageId } from '../arguments.ts'
import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'
import { creditsJson } from '../show.ts'

export const messageCancel = (run: Run) =>
  command(
    'cancel',
    'delete a scheduled message that no dispatcher has claimed, and refund it, as its account holder can',
    'gateway message cancel 20481',
  )
    .argument('<id>', "the message's id", readMessageId)
    .action((id: MessageId) =>
      run(async ({ backOffice, output }) => {
        const cancelled = await backOffice.cancelMessage(id)
        if (cancelled === undefined) {
          throw new Refused(`There is no message ${id}: nobody was given this id, or its history was dropped.`)
        }
        const { account, deletion } = cancelled
        if (deletion.outcome === 'not-found') throw new Refused(`Message ${id} was deleted already, or is too old.`)
        if (deletion.outcome === 'sent') {
          throw new Refused(`Message ${id} cannot be cancelled: it was not scheduled, or a dispatcher has claimed it.`)
        }
        output.result(
          { message: id, account, amount: creditsJson(deletion.refunded) },
          `Message ${id} is cancelled; account ${account} has ${formatCredits(deletion.refunded)} credits back.`,
        )
      }),
    )
