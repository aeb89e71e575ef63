import { changeableCodes, OUTCOME } from '@gateway/core'

const changeable = changeableCodes.join(', ')

/** Of the CTE `parts` (id and code of parts whose state has just changed) what it means for each message: a row that `setByParts` takes. */
export const partsOfMessage = (parts: string, more = ''): string => `select id${more},
    count(*) filter (where code = ${OUTCOME.delivered})::smallint as delivered,
    min(code) filter (where code not in (${changeable}, ${OUTCOME.delivered})) as failure,
    max(code) filter (where code in (${changeable})) as open
  from ${parts}
  group by id
  order by id`

/** Assignments to `message` by core's `codeByParts`, from such a row. Who waits for another update decides by what that left. */
export function setByParts(row: string, at: string): string {
  const told = `case
      when ${row}.failure is not null then ${row}.failure
      when message.parts_undelivered <= ${row}.delivered then ${OUTCOME.delivered}
      else coalesce(${row}.open, message.code)
    end`
  const isOpen = `message.code in (${changeable})`
  return `parts_undelivered = message.parts_undelivered - ${row}.delivered,
    code = case when ${isOpen} then ${told} else message.code end,
    code_at = case when ${isOpen} and ${told} <> message.code then ${at} else message.code_at end`
}
