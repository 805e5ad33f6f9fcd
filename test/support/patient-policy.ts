/** Whatever a busy machine is late with is not overdue: only what never comes is. */
export const patientPolicy = {
  webhookWithin: '1h',
  apiWithin: '1h',
  chainWithin: '1h',
  reportWithin: '1h',
  settlementWithin: '1h',
}
