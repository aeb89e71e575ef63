/**
 * ESLint rules against the forms of comments and names that CONTRIBUTING.md forbids. They find only forms that a
 * pattern can recognize.
 */

/** A comment that begins without a subject: "What is kept", "Who may", "Of each", "So many at once". */
const subjectless =
  /^[\s*]*(?:What|Who|Whose|Whoever|Whatever|Of|So (?:many|much|long)|Those|That of|Told)\b(?! follows\b)/

/** Participles and pronouns that do not describe a value. */
const emptyNames = [
  'told',
  'asked',
  'its',
  'given',
  'wanted',
  'what',
  'kept',
  'held',
  'taken',
  'left',
  'their',
  'theirs',
  'whose',
  'who',
  'said',
]

/**
 * Names of properties that other programs read or that are stored: the audit log (`given`), fields of log lines
 * (`what`), forms and JSON of the command line, and columns.
 */
const publishedNames = ['given', 'what', 'kept', 'wanted', 'held', 'taken', 'left']

/** Reports comments that begin with a relative clause or a preposition in place of a subject. */
const commentHasSubject = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { subject: 'Begin the comment with its subject (a noun) or with a verb in the third person.' },
  },
  create: (context) => ({
    Program() {
      let lineBefore = -1
      for (const comment of context.sourceCode.getAllComments()) {
        const isContinued = comment.type === 'Line' && comment.loc.start.line === lineBefore + 1
        lineBefore = comment.type === 'Line' ? comment.loc.start.line : -1
        if (!isContinued && subjectless.test(comment.value)) context.report({ loc: comment.loc, messageId: 'subject' })
      }
    },
  }),
}

/** Reports variables, parameters, functions and declared properties whose name is a bare participle or pronoun. */
const nameIsNoun = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { noun: 'Name the thing: {{ name }} is no noun.' },
  },
  create: (context) => ({
    ':function, VariableDeclaration, CatchClause'(node) {
      for (const variable of context.sourceCode.getDeclaredVariables(node)) {
        if (emptyNames.includes(variable.name))
          context.report({ node: variable.identifiers[0], messageId: 'noun', data: { name: variable.name } })
      }
    },
    TSPropertySignature({ key }) {
      if (emptyNames.includes(key.name) && !publishedNames.includes(key.name))
        context.report({ node: key, messageId: 'noun', data: { name: key.name } })
    },
  }),
}

export const plainEnglish = { rules: { 'comment-has-subject': commentHasSubject, 'name-is-noun': nameIsNoun } }
