/** Why a recipient gets no message, in the order that wins (ruling 1.10). */
export type Refusal =
  | 'account-locked'
  | 'no-message'
  | 'too-long'
  | 'no-number'
  | 'invalid-number'
  | 'blacklisted'
  | 'trial-to-self'
  | 'opted-out'
  | 'do-not-contact'
  | 'insufficient-credits'
