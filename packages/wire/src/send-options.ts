import { categoryCharactersMax, priorityMax, validityMinutesMax, type SendOptionName } from '@gateway/core/messages'

interface OptionWords {
  /** Field of a text in REST. */
  readonly rest: string
  /** Parameter of the query string. */
  readonly query: string
  /** Element of a `Message` in XML. */
  readonly xml: string
  /** Text that follows "must be" in a refusal. */
  readonly form: string
  /**
   * Unit that the query string's refusal adds after `form`, because the name of the parameter does not contain the
   * unit.
   */
  readonly queryUnit?: string
  /** Meaning of the option, for the documentation of parameters. */
  readonly meaning: string
}

/** Words for the options of a send in the three interfaces. */
export const SEND_OPTION = {
  validity: {
    rest: 'validityMinutes',
    query: 'validity',
    xml: 'ValidityMinutes',
    form: `1 to ${validityMinutesMax}`,
    queryUnit: ' minutes',
    meaning: `minutes after their due time for which the messages may wait, 1 to ${validityMinutesMax}`,
  },
  priority: {
    rest: 'priority',
    query: 'priority',
    xml: 'Priority',
    form: `0 to ${priorityMax}`,
    meaning: `0 to ${priorityMax}: waiting messages of a higher priority go first`,
  },
  flash: {
    rest: 'flash',
    query: 'flash',
    xml: 'Flash',
    form: 'true or false',
    meaning: 'true or 1: phones show the text at once and do not keep it',
  },
  category: {
    rest: 'category',
    query: 'category',
    xml: 'Category',
    form: `up to ${categoryCharactersMax} characters without control characters`,
    meaning: `a label of your own for statements and reports, up to ${categoryCharactersMax} characters`,
  },
} as const satisfies Readonly<Record<SendOptionName, OptionWords>>

/** Returns the entry of an option in `SEND_OPTION`, typed so that optional fields such as `queryUnit` can be read. */
export const optionWords = (name: SendOptionName): OptionWords => SEND_OPTION[name]
