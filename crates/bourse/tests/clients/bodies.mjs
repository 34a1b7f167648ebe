// What each operation is called with: the example of the API document, unless it says something else here.

// Operations that others need to have happened come first, and those that remove things last, the other way round.
export function inOrder(methods) {
  const are = (kind) => methods.filter(({ operation }) => kind.test(operation))
  const [first, last] = [are(/^(Create|Add|Register|Refresh)/), are(/^(Delete|Remove)/).reverse()]
  return [...first, ...methods.filter((method) => !first.includes(method) && !last.includes(method)), ...last]
}

// `known` has what the demonstration says of itself; `said` the last answer of each operation of this client.
export const bodies = {
  // Its clients have different numbers for what is not found, and the same for what is missing.
  'Marketplace/CheckoutOptionsSalesContract': () => ({}),
  'Collections/UpdateCollection': ({ said }) => ({ collection: { ...said.CreateCollection.collection, private: false } }),
  'Collections/PublishCollection': ({ said }) => ({ collectionId: said.CreateCollection.collection.id, recursive: true }),
  'Collections/UnpublishCollection': ({ said }) => ({ collectionId: said.CreateCollection.collection.id }),
  'Collections/DeleteCollection': ({ said }) => ({ collectionId: said.CreateCollection.collection.id }),
  'Collections/CreateToken': ({ said, unique }) => ({
    collectionId: said.CreateCollection.collection.id,
    token: { tokenId: String(unique), name: 'Harbour fog' },
  }),
  'Collections/UpdateToken': ({ said }) => ({
    collectionId: said.CreateCollection.collection.id,
    tokenId: said.CreateToken.token.tokenId,
    token: { ...said.CreateToken.token, name: 'Harbour mist' },
  }),
  'Collections/DeleteToken': ({ said }) => ({
    collectionId: said.CreateCollection.collection.id,
    tokenId: said.CreateToken.token.tokenId,
  }),
  'Collections/CreateAsset': ({ known }) => ({
    asset: { collectionId: known.collectionId, tokenId: '1', metadataField: 'image' },
  }),
  'Collections/GetAsset': ({ said }) => ({ assetId: said.CreateAsset.asset.id }),
  'Collections/UpdateAsset': ({ said }) => ({ asset: said.CreateAsset.asset }),
  'Collections/DeleteAsset': ({ said }) => ({ assetId: said.CreateAsset.asset.id }),
  'Collections/CreateContractCollection': ({ known, unique }) => ({
    projectId: known.projectId,
    contractCollection: link(known, unique),
  }),
  'Collections/GetContractCollection': ({ known, unique }) => ({ projectId: known.projectId, ...place(known, unique) }),
  'Collections/ListContractCollections': ({ known }) => ({ projectId: known.projectId }),
  'Collections/UpdateContractCollection': ({ known, unique }) => ({
    projectId: known.projectId,
    contractCollection: link(known, unique),
  }),
  'Collections/DeleteContractCollection': ({ known, unique }) => ({ projectId: known.projectId, ...place(known, unique) }),
  'Indexer/UpdateWebhookListener': ({ said }) => ({ listener: { ...said.AddWebhookListener.listener, name: 'Sales' } }),
  'Indexer/GetWebhookListener': ({ said }) => ({ id: said.AddWebhookListener.listener.id }),
  'Indexer/ToggleWebhookListener': ({ said }) => ({ id: said.AddWebhookListener.listener.id }),
  'Indexer/RemoveWebhookListener': ({ said }) => ({ id: said.AddWebhookListener.listener.id }),
  'Metadata/GetTask': ({ said }) => ({ taskId: said.RefreshTokenMetadata.taskID }),
}

function place(known, unique) {
  return { chainId: known.chainId, contractAddress: `0x${unique.toString(16).padStart(40, '0')}` }
}

function link(known, unique) {
  return { ...place(known, unique), collectionId: known.collectionId }
}
