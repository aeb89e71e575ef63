import { command } from '../command.ts'
import { Refused, type Run } from '../context.ts'

/** Retention at this moment; the dispatchers do the same by themselves, every ten minutes. */
export const historyDrop = (run: Run) =>
  command(
    'drop',
    'drop the messages of more than 90 days ago; dispatchers do so by themselves every ten minutes',
  ).action(() =>
    run(async ({ backOffice, output }) => {
      const sum = { partitions: 0, sends: 0, messages: 0 }
      for (;;) {
        const { left, ...dropped } = await backOffice.dropHistory()
        sum.partitions += dropped.partitions
        sum.sends += dropped.sends
        sum.messages += dropped.messages
        const text = `${sum.messages} messages in ${sum.sends} sends dropped`
        if (left === 'more') output.progress(text)
        if (left === 'busy') throw new Refused(`Not all could be dropped: others are at it. Try again later. ${text}.`)
        if (left === 'all') {
          output.result(sum, `${text}${sum.partitions > 0 ? `, ${sum.partitions} partitions as a whole` : ''}.`)
          return
        }
      }
    }),
  )
