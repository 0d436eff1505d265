// One message a line; a test compares the table with the `.proto` files.
// swift-format-ignore-file
extension MessageShape {
  /// The messages that JSON of clients may hold.
  static let table = """
    GetDocumentRequest:name string,mask DocumentMask,transaction bytes @consistency_selector,read_time timestamp @consistency_selector
    ListDocumentsRequest:parent string,collection_id string,page_size int32,page_token string,order_by string,mask DocumentMask,transaction bytes @consistency_selector,read_time timestamp @consistency_selector,show_missing bool
    CreateDocumentRequest:parent string,collection_id string,document_id string,document Document,mask DocumentMask
    UpdateDocumentRequest:document Document,update_mask DocumentMask,mask DocumentMask,current_document Precondition
    DeleteDocumentRequest:name string,current_document Precondition
    BatchGetDocumentsRequest:database string,documents *string,mask DocumentMask,transaction bytes @consistency_selector,new_transaction TransactionOptions @consistency_selector,read_time timestamp @consistency_selector
    BeginTransactionRequest:database string,options TransactionOptions
    CommitRequest:database string,writes *Write,transaction bytes,mark WriteMark
    RollbackRequest:database string,transaction bytes
    RunQueryRequest:parent string,structured_query StructuredQuery @query_type,transaction bytes @consistency_selector,new_transaction TransactionOptions @consistency_selector,read_time timestamp @consistency_selector,explain_options ExplainOptions
    RunAggregationQueryRequest:parent string,structured_aggregation_query StructuredAggregationQuery @query_type,transaction bytes @consistency_selector,new_transaction TransactionOptions @consistency_selector,read_time timestamp @consistency_selector,explain_options ExplainOptions
    ExplainOptions:analyze bool
    PartitionQueryRequest:parent string,structured_query StructuredQuery @query_type,partition_count int64,page_token string,page_size int32,read_time timestamp @consistency_selector
    ListCollectionIdsRequest:parent string,page_size int32,page_token string,read_time timestamp @consistency_selector
    BatchWriteRequest:database string,writes *Write,labels %string
    LatLng:latitude double,longitude double
    Value:null_value null @value_type,boolean_value bool @value_type,integer_value int64 @value_type,double_value double @value_type,timestamp_value timestamp @value_type,string_value string @value_type,bytes_value bytes @value_type,reference_value string @value_type,geo_point_value LatLng @value_type,array_value ArrayValue @value_type,map_value MapValue @value_type
    ArrayValue:values *Value
    MapValue:fields %Value
    Document:name string,fields %Value,create_time timestamp,update_time timestamp
    DocumentMask:field_paths *string
    Precondition:exists bool @condition_type,update_time timestamp @condition_type
    TransactionOptions:read_only TransactionOptions.ReadOnly @mode,read_write TransactionOptions.ReadWrite @mode
    TransactionOptions.ReadWrite:retry_transaction bytes,concurrency_mode =TransactionOptions.ReadWrite.ConcurrencyMode
    TransactionOptions.ReadOnly:read_time timestamp @consistency_selector
    Write:update Document @operation,delete string @operation,verify string @operation,transform DocumentTransform @operation,update_mask DocumentMask,current_document Precondition,update_transforms *DocumentTransform.FieldTransform
    DocumentTransform:document string,field_transforms *DocumentTransform.FieldTransform
    DocumentTransform.FieldTransform:field_path string,set_to_server_value =DocumentTransform.FieldTransform.ServerValue @transform_type,increment Value @transform_type,maximum Value @transform_type,minimum Value @transform_type,append_missing_elements ArrayValue @transform_type,remove_all_from_array ArrayValue @transform_type
    StructuredQuery:select StructuredQuery.Projection,from *StructuredQuery.CollectionSelector,where StructuredQuery.Filter,order_by *StructuredQuery.Order,limit int32,offset int32,start_at Cursor,end_at Cursor,find_nearest StructuredQuery.FindNearest
    StructuredQuery.FindNearest:vector_field StructuredQuery.FieldReference,query_vector Value,distance_measure =StructuredQuery.FindNearest.DistanceMeasure,limit int32,distance_result_field string,distance_threshold double
    StructuredQuery.CollectionSelector:collection_id string,all_descendants bool
    StructuredQuery.Filter:composite_filter StructuredQuery.CompositeFilter @filter_type,field_filter StructuredQuery.FieldFilter @filter_type,unary_filter StructuredQuery.UnaryFilter @filter_type
    StructuredQuery.CompositeFilter:op =StructuredQuery.CompositeFilter.Operator,filters *StructuredQuery.Filter
    StructuredQuery.FieldFilter:field StructuredQuery.FieldReference,op =StructuredQuery.FieldFilter.Operator,value Value
    StructuredQuery.UnaryFilter:op =StructuredQuery.UnaryFilter.Operator,field StructuredQuery.FieldReference @operand_type
    StructuredQuery.Order:field StructuredQuery.FieldReference,direction =StructuredQuery.Direction
    StructuredQuery.FieldReference:field_path string
    StructuredQuery.Projection:fields *StructuredQuery.FieldReference
    Cursor:values *Value,before bool
    StructuredAggregationQuery:structured_query StructuredQuery @query_type,aggregations *StructuredAggregationQuery.Aggregation
    StructuredAggregationQuery.Aggregation:count StructuredAggregationQuery.Aggregation.Count @operator,sum StructuredAggregationQuery.Aggregation.Sum @operator,avg StructuredAggregationQuery.Aggregation.Avg @operator,alias string
    StructuredAggregationQuery.Aggregation.Count:up_to int64
    StructuredAggregationQuery.Aggregation.Sum:field StructuredQuery.FieldReference
    StructuredAggregationQuery.Aggregation.Avg:field StructuredQuery.FieldReference
    WriteMark:stream bytes,sequence int64,acknowledged int64
    """

  /// The names of each enum, at their numbers.
  static let choices: [String: [Int: String]] = [
    "TransactionOptions.ReadWrite.ConcurrencyMode": [
      0: "CONCURRENCY_MODE_UNSPECIFIED", 1: "OPTIMISTIC", 2: "PESSIMISTIC",
    ],
    "DocumentTransform.FieldTransform.ServerValue": [
      0: "SERVER_VALUE_UNSPECIFIED", 1: "REQUEST_TIME",
    ],
    "StructuredQuery.CompositeFilter.Operator": [0: "OPERATOR_UNSPECIFIED", 1: "AND", 2: "OR"],
    "StructuredQuery.FieldFilter.Operator": [
      0: "OPERATOR_UNSPECIFIED", 1: "LESS_THAN", 2: "LESS_THAN_OR_EQUAL", 3: "GREATER_THAN",
      4: "GREATER_THAN_OR_EQUAL", 5: "EQUAL", 6: "NOT_EQUAL", 7: "ARRAY_CONTAINS", 8: "IN",
      9: "ARRAY_CONTAINS_ANY", 10: "NOT_IN",
    ],
    "StructuredQuery.UnaryFilter.Operator": [
      0: "OPERATOR_UNSPECIFIED", 2: "IS_NAN", 3: "IS_NULL", 4: "IS_NOT_NAN", 5: "IS_NOT_NULL",
    ],
    "StructuredQuery.FindNearest.DistanceMeasure": [
      0: "DISTANCE_MEASURE_UNSPECIFIED", 1: "EUCLIDEAN", 2: "COSINE", 3: "DOT_PRODUCT",
    ],
    "StructuredQuery.Direction": [0: "DIRECTION_UNSPECIFIED", 1: "ASCENDING", 2: "DESCENDING"],
  ]
}
